import SyncModel

/// The way of one export from object to object.
struct ExportWalk<Object: ExportableObject> {
    let plans: [ExportPlan]
    let options: ExportOptions
    /// The objects on cycles that have been written in full.
    var written: Set<Object.ExportID> = []
    private var depth = 0

    init(plans: [ExportPlan], options: ExportOptions) {
        self.plans = plans
        self.options = options
    }

    /// Writes an object.
    ///
    /// - Parameter arrival: The relationship that led to it; nil for the exported object itself.
    mutating func write(
        _ object: Object, arrivingBy arrival: RelationshipExport? = nil, to writer: inout JSONWriter
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
        try write(
            isRepeated ? plan.ownMembers : plan.members, of: object, except: arrival?.relationship.inverse, to: &writer)
        writer.endObject()
    }

    private mutating func write(
        _ members: [ExportPlan.Member], of object: Object, except inverse: Int?, to writer: inout JSONWriter
    ) throws {
        for member in members {
            switch member.content {
            case .attribute(let attribute):
                writer.key(quoted: member.key)
                let value = object.value(at: attribute.slot)
                if let transformer = attribute.transformer, !value.isNull {
                    try writer.value(try transform(value, of: attribute, in: object, by: transformer))
                } else {
                    try write(value, as: attribute, to: &writer)
                }
            case .group(let members):
                writer.key(quoted: member.key)
                writer.beginObject()
                try write(members, of: object, except: inverse, to: &writer)
                writer.endObject()
            case .relationship(let export):
                if export.relationship.index == inverse { continue }
                guard let related = try object.related(by: export.relationship) else { continue }
                try write(related, by: export, under: member.key, to: &writer)
            }
        }
    }

    private mutating func write(
        _ related: [Object], by export: RelationshipExport, under key: [UInt8], to writer: inout JSONWriter
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

    // MARK: Values

    private func transform(
        _ value: Value, of attribute: AttributeExport, in object: Object,
        by transformer: (name: String, reverse: JSONTransformers.Reverse)
    ) throws(MappingError) -> JSONValue {
        do {
            return try transformer.reverse(value) ?? .null
        } catch {
            throw .irreversible(
                entity: object.layout.name, attribute: object.layout.attributes[attribute.slot].name,
                by: transformer.name, String(describing: error))
        }
    }

    @inline(__always)
    private func write(_ value: Value, as attribute: AttributeExport, to writer: inout JSONWriter) throws {
        switch value {
        case .date(let moment): writer.date(moment, as: options.dateFormat)
        case .double(let number) where attribute.isFloat: try writer.float(Float(number))
        default: try writer.value(value)
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
    fileprivate mutating func float(_ number: Float) throws {
        guard number.isFinite else { throw JSONError.nonFiniteNumber }
        raw(number.description.utf8)
    }

    fileprivate mutating func date(_ moment: Timestamp, as format: DateFormat) {
        switch format.kind {
        case .iso8601: date(milliseconds: moment.milliseconds)
        case .iso8601Seconds: date(milliseconds: DateFormat.wholeSeconds(moment.milliseconds))
        case .pattern: string(format.string(milliseconds: moment.milliseconds))
        }
    }
}
