extension SyncReport: Codable {
    private enum CodingKeys: CodingKey {
        case listed, isListPartial, local, deleted, kept, unchanged, planned, inserted, updated, failed, retries
        case durations, errors, errorCounts, keys
    }

    /// Decodes a report. Its keys become strings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        listed = try container.decode(Int.self, forKey: .listed)
        isListPartial = try container.decode(Bool.self, forKey: .isListPartial)
        local = try container.decode(Int.self, forKey: .local)
        deleted = try container.decode(Int.self, forKey: .deleted)
        kept = try container.decodeIfPresent(Kept.self, forKey: .kept)
        unchanged = try container.decode(Int.self, forKey: .unchanged)
        planned = try container.decode(Int.self, forKey: .planned)
        inserted = try container.decode(Int.self, forKey: .inserted)
        updated = try container.decode(Int.self, forKey: .updated)
        failed = try container.decode(Int.self, forKey: .failed)
        retries = try container.decode(Int.self, forKey: .retries)
        durations = try container.decode([SyncStage: Duration].self, forKey: .durations)
        errors = try container.decode([SyncError].self, forKey: .errors)
        errorCounts = try container.decode([ErrorCount].self, forKey: .errorCounts)
        keys = try container.decodeIfPresent([KeyGroup: [String]].self, forKey: .keys) ?? [:]
    }

    /// Encodes the report, with keys and errors as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(listed, forKey: .listed)
        try container.encode(isListPartial, forKey: .isListPartial)
        try container.encode(local, forKey: .local)
        try container.encode(deleted, forKey: .deleted)
        try container.encodeIfPresent(kept, forKey: .kept)
        try container.encode(unchanged, forKey: .unchanged)
        try container.encode(planned, forKey: .planned)
        try container.encode(inserted, forKey: .inserted)
        try container.encode(updated, forKey: .updated)
        try container.encode(failed, forKey: .failed)
        try container.encode(retries, forKey: .retries)
        try container.encode(durations, forKey: .durations)
        try container.encode(errors, forKey: .errors)
        try container.encode(errorCounts, forKey: .errorCounts)
        if !keys.isEmpty {
            try container.encode(keys.mapValues { ($0 as? [Any] ?? []).map { "\($0)" } }, forKey: .keys)
        }
    }
}
