/// One key names the case, such as
/// `{"column": {"table": "User", "column": "company", "target": "Company"}}`.
extension SQLSchema.Storage: Codable {
    private enum CodingKeys: CodingKey {
        case column, inverseColumn, join
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let link = try container.decodeIfPresent(SQLSchema.ColumnLink.self, forKey: .column) {
            self = .column(link)
        } else if let link = try container.decodeIfPresent(SQLSchema.ColumnLink.self, forKey: .inverseColumn) {
            self = .inverseColumn(link)
        } else {
            self = .join(try container.decode(SQLSchema.JoinLink.self, forKey: .join))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .column(let link): try container.encode(link, forKey: .column)
        case .inverseColumn(let link): try container.encode(link, forKey: .inverseColumn)
        case .join(let link): try container.encode(link, forKey: .join)
        }
    }
}
