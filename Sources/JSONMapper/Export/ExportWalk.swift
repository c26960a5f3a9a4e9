import SyncModel

/// The way of exports from object to object.
struct ExportWalk<Object: ExportableObject> {
    private let plans: [ExportPlan]
    private let options: ExportOptions
    private let hasCycles: Bool
    /// The objects on cycles that have been written in full below the exported one.
    private var written: Set<Object.ExportID> = []
    private var depth = 0

    init(plans: [ExportPlan], options: ExportOptions, hasCycles: Bool) {
        self.plans = plans
        self.options = options
        self.hasCycles = hasCycles
    }

    /// Writes an object that is exported for its own sake.
    mutating func write(_ object: Object, to writer: inout JSONWriter) throws {
        depth = 0
        if hasCycles { written = [object.exportID] }
        try write(object, arrivingBy: nil, to: &writer)
    }

    /// - Parameter arrival: The relationship that led to the object; nil for the exported object itself.
    private mutating func write(
        _ object: Object, arrivingBy arrival: ExportPlan.Related?, to writer: inout JSONWriter
    ) throws {
        let layout = object.layout
        guard plans.indices.contains(layout.index), plans[layout.index].layout.isSame(as: layout) else {
            throw MappingError.unknownEntity(layout.name)
        }
        depth += 1
        defer { depth -= 1 }
        guard depth <= options.maximumDepth else {
            throw MappingError.nestedTooDeep(entity: layout.name, maximumDepth: options.maximumDepth)
        }
        let isRepeated = arrival?.isOnCycle == true && !written.insert(object.exportID).inserted
        let plan = plans[layout.index]
        writer.beginObject()
        let steps = isRepeated ? plan.ownSteps : plan.steps
        for place in steps.indices {
            let index = steps[place].index
            switch steps[place].kind {
            case .attribute:
                writer.key(quoted: steps[place].key)
                try writer.value(object.value(at: index))
            case .dateAttribute:
                writer.key(quoted: steps[place].key)
                try writer.value(object.value(at: index), dates: options.dateFormat)
            case .floatAttribute:
                writer.key(quoted: steps[place].key)
                try writer.float(object.value(at: index))
            case .transformedAttribute:
                writer.key(quoted: steps[place].key)
                try writer.value(try json(of: plan.transformed[index], in: object))
            case .beginGroup:
                writer.key(quoted: steps[place].key)
                writer.beginObject()
            case .endGroup:
                writer.endObject()
            case .relationship:
                let export = plan.relationships[index]
                if export.relationship.index == arrival?.relationship.inverse { continue }
                guard let related = try object.related(by: export.relationship) else { continue }
                try write(related, by: export, under: steps[place].key, to: &writer)
            }
        }
        writer.endObject()
    }

    private mutating func write(
        _ related: [Object], by export: ExportPlan.Related, under key: [UInt8], to writer: inout JSONWriter
    ) throws {
        guard export.relationship.isToMany else {
            if let object = related.first {
                writer.key(quoted: key)
                try write(object, arrivingBy: export, to: &writer)
            } else if export.writesNull {
                writer.key(quoted: key)
                writer.null()
            }
            return
        }
        writer.key(quoted: key)
        if options.relationships == .nested {
            writer.beginObject()
            for (index, object) in related.enumerated() {
                writer.key(String(index))
                try write(object, arrivingBy: export, to: &writer)
            }
            writer.endObject()
        } else {
            writer.beginArray()
            for object in related {
                try write(object, arrivingBy: export, to: &writer)
            }
            writer.endArray()
        }
    }

    private func json(of attribute: ExportPlan.Transformed, in object: Object) throws(MappingError) -> JSONValue {
        let value = object.value(at: attribute.slot)
        guard !value.isNull else { return .null }
        do {
            return try attribute.reverse(value) ?? .null
        } catch {
            throw .irreversible(
                entity: object.layout.name, attribute: object.layout.attributes[attribute.slot].name,
                by: attribute.name, String(describing: error))
        }
    }
}

extension EntityLayout {
    /// Whether plans made for one of the two serve the other: the same entity, or one of a model that differs in identities alone.
    fileprivate func isSame(as other: EntityLayout) -> Bool {
        self === other || (name == other.name && attributes.count == other.attributes.count)
    }
}

extension JSONWriter {
    /// Writes a float, held as the double of the same worth, with as few digits as tell it from other floats.
    fileprivate mutating func float(_ value: Value) throws {
        guard case .double(let number) = value else { return try self.value(value) }
        guard number.isFinite else { throw JSONError.nonFiniteNumber }
        raw(Float(number).description.utf8)
    }

    fileprivate mutating func value(_ value: Value, dates format: DateFormat) throws {
        guard case .date(let moment) = value else { return try self.value(value) }
        switch format.kind {
        case .iso8601: date(milliseconds: moment.milliseconds)
        case .iso8601Seconds: date(milliseconds: DateFormat.wholeSeconds(moment.milliseconds))
        case .pattern: string(format.string(milliseconds: moment.milliseconds))
        }
    }
}
