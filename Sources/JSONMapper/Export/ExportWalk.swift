import Foundation
import SyncModel

/// The traversal of objects and relationships in an export.
///
/// The objects being written are on an explicit stack, so the nesting depth does not depend on the
/// thread's stack. The type is not generic: code in other modules cannot specialize it, and would
/// look up types at run time for each object.
struct ExportWalk {
    private typealias Object = any ExportableObject

    /// The objects of a relationship that is being written.
    private struct Links {
        let export: ExportPlan.Related
        let objects: [Object]
        var next = 0
    }

    /// An object that is being written.
    private struct Frame {
        let object: Object
        let plan: ExportPlan
        let steps: [ExportPlan.Step]
        /// The index of the relationship that leads back to the previous object; nil for none.
        let inverse: Int?
        /// The index of the step after the relationship.
        var place: Int
        var links: Links
    }

    private let plans: [ExportPlan]
    private let options: RecordMapper.Exporter.Options
    private let hasCycles: Bool
    private var frames: [Frame] = []
    /// The identifiers of the objects on cycles that have been written in full below the exported
    /// object.
    private var written: Set<AnyHashable> = []

    init(plans: [ExportPlan], options: RecordMapper.Exporter.Options, hasCycles: Bool) {
        self.plans = plans
        self.options = options
        self.hasCycles = hasCycles
    }

    /// Writes an exported object and everything nested in it.
    mutating func write(_ object: any ExportableObject, to writer: inout JSONWriter) throws {
        frames.removeAll(keepingCapacity: true)
        if hasCycles { written = [Self.id(of: object)] }
        try begin(object, arrivingBy: nil, &writer)
        while let top = frames.indices.last {
            let index = frames[top].links.next
            if index < frames[top].links.objects.count {
                frames[top].links.next += 1
                let links = frames[top].links
                if links.export.relationship.isToMany, options.relationships == .nested { writer.key(String(index)) }
                try begin(links.objects[index], arrivingBy: links.export, &writer)
                continue
            }
            if frames[top].links.export.relationship.isToMany {
                if options.relationships == .nested { writer.endObject() } else { writer.endArray() }
            }
            let frame = frames[top]
            let pause = try proceed(
                with: frame.object, frame.plan, frame.steps, from: frame.place, inverse: frame.inverse, &writer)
            if let pause {
                (frames[top].place, frames[top].links) = pause
            } else {
                frames.removeLast()
            }
        }
    }

    /// Begins an object. If it has a relationship to follow, it is then on the stack; otherwise, it
    /// has been written to its end.
    ///
    /// - Parameter arrival: The relationship that led to the object; nil for the exported object
    ///   itself.
    private mutating func begin(
        _ object: Object, arrivingBy arrival: ExportPlan.Related?, _ writer: inout JSONWriter
    ) throws {
        let layout = object.layout
        let index = layout.index
        guard plans.indices.contains(index), plans[index].layout.isSame(as: layout) else {
            throw MappingError.unknownEntity(layout.name)
        }
        let plan = plans[index]
        guard frames.count < options.maximumDepth else {
            throw MappingError.nestedTooDeep(entity: layout.name, maximumDepth: options.maximumDepth)
        }
        let isRepeated = arrival?.isOnCycle == true && !written.insert(Self.id(of: object)).inserted
        let steps = isRepeated ? plan.ownSteps : plan.steps
        let inverse = arrival?.relationship.inverse
        writer.beginObject()
        guard let pause = try proceed(with: object, plan, steps, from: 0, inverse: inverse, &writer) else {
            return
        }
        frames.append(
            Frame(
                object: object, plan: plan, steps: steps, inverse: inverse, place: pause.place, links: pause.links))
    }

    /// Performs the steps of an object up to the next relationship to follow.
    ///
    /// - Returns: The index of the step to continue with and the related objects; nil if the object
    ///   has been written to its end.
    private func proceed(
        with object: Object, _ plan: ExportPlan, _ steps: [ExportPlan.Step], from start: Int, inverse: Int?,
        _ writer: inout JSONWriter
    ) throws -> (place: Int, links: Links)? {
        let keptKeys = plan.otherKeysColumn.map { Self.memberKeys(of: object.value(at: $0)) } ?? []
        for place in start..<steps.count {
            let index = steps[place].index
            if !keptKeys.isEmpty, !steps[place].isGrouped, keptKeys.contains(steps[place].key),
                try isEmpty(steps[place], plan, object)
            {
                continue
            }
            switch steps[place].kind {
            case .attribute, .dateAttribute, .floatAttribute, .transformedAttribute, .styledAttribute:
                try write(steps[place], under: steps[place].key, of: object, plan, &writer)
            case .otherKeys:
                if case .json(let json) = object.value(at: index) { writer.members(of: json.text) }
            case .beginGroup:
                writer.key(quoted: steps[place].key)
                writer.beginObject()
            case .endGroup:
                writer.endObject()
            case .relationship:
                let export = plan.relationships[index]
                guard export.relationship.index != inverse,
                    let links = try begin(export, of: object, under: steps[place].key, &writer)
                else { continue }
                return (place + 1, links)
            }
        }
        writer.endObject()
        return nil
    }

    /// Writes an attribute.
    private func write(
        _ step: ExportPlan.Step, under key: [UInt8], of object: Object, _ plan: ExportPlan, _ writer: inout JSONWriter
    ) throws {
        switch step.kind {
        case .attribute:
            writer.key(quoted: key)
            try writer.value(try value(at: step.index, of: object))
        case .dateAttribute:
            writer.key(quoted: key)
            try writer.value(
                try value(at: step.index, of: object, writesAnyDate: options.dateFormat.fraction == nil),
                dates: options.dateFormat)
        case .floatAttribute:
            writer.key(quoted: key)
            try writer.float(try value(at: step.index, of: object))
        case .transformedAttribute:
            writer.key(quoted: key)
            try writer.value(try json(of: plan.transformed[step.index], in: object))
        case .styledAttribute:
            let style = plan.styled[step.index]
            let writesAnyDate = style.dateStyle != nil || options.dateFormat.fraction == nil
            try write(
                try value(at: style.column, of: object, writesAnyDate: writesAnyDate), style, of: object, key, &writer)
        case .otherKeys, .relationship, .beginGroup, .endGroup: break
        }
    }

    /// Returns a value that is written as it is.
    ///
    /// - Parameter writesAnyDate: Whether the format of dates has a form for every date.
    /// - Throws: ``MappingError/inexpressible(entity:key:attribute:)``. Null in place of the value
    ///   would be written over it when the JSON is read again.
    @inline(__always)
    private func value(
        at column: Int, of object: Object, writesAnyDate: Bool = false
    ) throws(MappingError) -> AttributeValue {
        let value = object.value(at: column)
        let isExpressible =
            switch value {
            case .double(let number): number.isFinite
            case .decimal(let number): number.isFinite
            case .date(let moment): writesAnyDate || DateText.hasText(moment.microseconds)
            default: true
            }
        guard isExpressible else { throw inexpressible(column, of: object) }
        return value
    }

    private func inexpressible(_ column: Int, of object: Object) -> MappingError {
        let layout = object.layout
        return .inexpressible(
            entity: layout.name, key: Record.Key(layout.identityColumns.map { object.value(at: $0) }),
            attribute: layout.attributes[column].name)
    }

    /// The keys of a JSON object, with quotes; none for another value.
    private static func memberKeys(of value: AttributeValue) -> Set<[UInt8]> {
        guard case .json(let json) = value else { return [] }
        var text = json.text
        return text.withUTF8 { bytes in
            guard let start = bytes.baseAddress, bytes.first == ASCII.openBrace else { return [] }
            var cursor = JSONCursor(start: start, end: start + bytes.count, options: JSONReader.Options())
            var keys: Set<[UInt8]> = []
            // The text has been validated, so reading it does not fail.
            guard (try? cursor.beginObject()) != nil else { return [] }
            while let key = try? cursor.nextKey(), (try? cursor.skipValue()) != nil {
                keys.insert([ASCII.quote] + key.bytes + [ASCII.quote])
            }
            return keys
        }
    }

    /// Whether the property of a step has no value, so that the value kept under its key is
    /// written.
    private func isEmpty(_ step: ExportPlan.Step, _ plan: ExportPlan, _ object: Object) throws -> Bool {
        switch step.kind {
        case .attribute, .dateAttribute, .floatAttribute: object.value(at: step.index).isNull
        case .styledAttribute: object.value(at: plan.styled[step.index].column).isNull
        case .transformedAttribute: object.value(at: plan.transformed[step.index].column).isNull
        case .relationship: try object.related(by: plan.relationships[step.index].relationship)?.isEmpty == true
        case .otherKeys, .beginGroup, .endGroup: false
        }
    }

    /// Begins the value of a relationship.
    ///
    /// - Returns: The related objects to write; nil if there is nothing more to write.
    private func begin(
        _ export: ExportPlan.Related, of object: Object, under key: [UInt8], _ writer: inout JSONWriter
    ) throws -> Links? {
        guard let objects = try object.related(by: export.relationship) else { return nil }
        let isToMany = export.relationship.isToMany
        if objects.isEmpty {
            switch export.emptyStyle {
            case .omit: return nil
            case .null:
                writer.key(quoted: key)
                writer.null()
                return nil
            case .list: break
            }
        }
        if let column = export.keyColumn, case .string(let text) = object.value(at: column),
            export.identifierKeys.contains(text), let target = objects.first
        {
            let plan = plans[target.layout.index]
            if let identity = plan.identityStep {
                try write(identity, under: JSONWriter.quotedKey(text), of: target, plan, &writer)
                return nil
            }
        }
        writer.key(quoted: key)
        guard isToMany else { return Links(export: export, objects: Array(objects.prefix(1))) }
        if options.relationships == .nested { writer.beginObject() } else { writer.beginArray() }
        return Links(export: export, objects: objects)
    }

    /// Writes an attribute whose annotations determine how it is written.
    private func write(
        _ value: AttributeValue, _ style: ExportPlan.Styled, of object: Object, _ key: [UInt8],
        _ writer: inout JSONWriter
    ) throws {
        if style.omitsNull, value.isNull { return }
        writer.key(quoted: key)
        switch value {
        case .date(let moment):
            guard let dateStyle = style.dateStyle else { return try writer.value(value, dates: options.dateFormat) }
            guard let text = dateStyle.text(moment.microseconds) else { throw inexpressible(style.column, of: object) }
            if dateStyle.layout.isNumber {
                writer.raw(text)
            } else {
                text.withUnsafeBufferPointer { writer.string(utf8: $0) }
            }
        case .uuid(let uuid) where style.isLowercase: writer.string(uuid.uuidString.lowercased())
        case .double(let number) where style.writesIntegers:
            if let whole = Int64(exactly: number), !(whole == 0 && number.sign == .minus) {
                writer.integer(whole)
            } else {
                try writer.double(number)
            }
        case .double where style.isFloat: try writer.float(value)
        default: try writer.value(value)
        }
    }

    private static func id(of object: some ExportableObject) -> AnyHashable {
        AnyHashable(object.exportID)
    }

    private func json(of attribute: ExportPlan.Transformed, in object: Object) throws(MappingError) -> JSONValue {
        let value = object.value(at: attribute.column)
        guard !value.isNull else { return .null }
        do {
            return try attribute.reverse(value) ?? .null
        } catch {
            throw .irreversible(
                entity: object.layout.name, attribute: object.layout.attributes[attribute.column].name,
                by: attribute.name, String(describing: error))
        }
    }
}

extension EntityLayout {
    /// Whether plans for one layout also apply to another one.
    ///
    /// They do for the same entity, and for its counterpart in a model that differs only in
    /// identities.
    fileprivate func isSame(as other: EntityLayout) -> Bool {
        self === other || (name == other.name && attributes.count == other.attributes.count)
    }
}

extension JSONWriter {
    /// Writes a float, which is stored as a double, with the fewest digits that distinguish it from
    /// other floats.
    fileprivate mutating func float(_ value: AttributeValue) throws {
        guard case .double(let number) = value else { return try self.value(value) }
        guard number.isFinite else { throw JSONError.nonFiniteNumber }
        raw(Float(number).description.utf8)
    }

    fileprivate mutating func value(_ value: AttributeValue, dates format: RecordMapper.Exporter.Options.DateFormat)
        throws
    {
        guard case .date(let moment) = value else { return try self.value(value) }
        if let fraction = format.fraction {
            date(moment, fraction: fraction)
        } else {
            string(format.string(from: moment))
        }
    }
}
