import SyncModel

/// The models of tests on JSON as people have it.
enum RealJSONModel {
    static func staff() throws -> DataModel {
        try DataModel {
            SyncEntity("Employee", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("company", toOne: "Company", inverse: "employees")
                SyncRelationship("skills", toOrdered: "Skill", inverse: "employees")
            }
            SyncEntity("Company", identity: "id") {
                SyncAttribute("id", .int64)
                SyncAttribute("n", .string)
                SyncRelationship("employees", toMany: "Employee", inverse: "company")
            }
            SyncEntity("Skill", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("title", .string)
                SyncRelationship("employees", toMany: "Employee", inverse: "skills")
            }
        }
    }

    static func orders() throws -> DataModel {
        try DataModel {
            SyncEntity("Order", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("note", .string)
                SyncRelationship("lines", toMany: "Line", inverse: "order")
                SyncRelationship("customer", toOne: "Customer", inverse: "orders")
                SyncRelationship("replaces", toOne: "Order", inverse: "replacedBy")
                SyncRelationship("replacedBy", toMany: "Order", inverse: "replaces")
            }
            SyncEntity("Line", identity: "id", within: "order") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("text", .string)
                SyncRelationship("order", toOne: "Order", inverse: "lines")
            }
            SyncEntity("Customer", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("name", .string)
                SyncRelationship("orders", toMany: "Order", inverse: "customer")
            }
        }
    }

    static func things() throws -> DataModel {
        try DataModel {
            SyncEntity("Thing", identity: "id") {
                SyncAttribute("id", .int64, optional: false)
                SyncAttribute("n", .int64)
                SyncAttribute("day", .date)
                SyncAttribute("f", .double)
                SyncRelationship("part", toOne: "Part", inverse: "thing")
            }
            SyncEntity("Part") {
                SyncAttribute("v", .string)
                SyncRelationship("thing", toOne: "Thing", inverse: "part")
            }
        }
    }
}
