import Foundation
import SyncModel
import SyncStore

/// Checks of objects that get another entity.
enum EntityChecks {
    static let all: [(String, @Sendable (any Store) async throws -> Void)] = [
        ("an object with another entity keeps what both entities have", change),
        ("an object with another entity loses what only the former one has", loss),
        ("a change of entity that is not possible changes nothing", refusal),
        ("a change of entity is told as a deletion and an insertion", report),
    ]

    private static func change(_ store: any Store) async throws {
        let people = try await store.transaction { transaction in
            let people = try await transaction.put("Person", ["id": 1, "name": "a", "age": 40], ["id": 2]).ids
            let notes = try await transaction.put("Note", ["id": 1], ["id": 2]).ids
            let tags = try await transaction.put("Tag", ["name": "x"], ["name": "y"]).ids
            try await transaction.tie("Person", people[0], "notes", notes)
            try await transaction.tie("Person", people[0], "tags", [tags[1], tags[0]])
            try await transaction.tie("Person", people[1], "friends", [people[0]])
            try await transaction.tie("Person", people[0], "favourite", [tags[0]])
            try await transaction.changeEntity(of: [people[0]], from: "Person", to: "Employee")
            return people
        }
        try await store.transaction { transaction in
            let found = try await transaction.records(StoreQuery("Employee"))
            try expect(found.map(\.object), [people[0]], "the employees")
            let names = ["id", "name", "age", "salary", "grade"]
            try expect(names.map { found.first?.record[$0] }, [1, "a", 40, .null, 3], "the employee's values")
            try expect(try await transaction.targets("Employee", people[0], "notes").count, 2, "the notes")
            let tags = try await transaction.targets("Employee", people[0], "tags")
            let tagNames = StoreQuery("Tag", objects: .only(Array(tags.prefix(1))))
            try expect(try await transaction.column("name", tagNames), ["y"], "the first tag")
            try expect(try await transaction.targets("Person", people[1], "friends"), [people[0]], "the friends of 2")
            try expect(try await transaction.targets("Employee", people[0], "favourite").count, 1, "the favourite")
            let merged = try await transaction.put("Employee", ["id": 1, "salary": .null], ["id": 2])
            try expect(merged.changes, [.unchanged, .inserted], "the identity as that of an employee")
            try expect(try await transaction.count(StoreQuery("Person")), 3, "all people")
        }
    }

    private static func loss(_ store: any Store) async throws {
        try await store.transaction { transaction in
            let staff = try await transaction.put(
                "Employee", ["id": 1, "salary": .decimal(10)], ["id": 2], ["id": 3], ["id": 4]
            ).ids
            let company = try await transaction.put("Company", ["id": 1]).ids[0]
            try await transaction.tie("Employee", staff[0], "staff", [staff[1]])
            try await transaction.tie("Employee", staff[2], "staff", [staff[0]])
            try await transaction.tie("Company", company, "head", [staff[0]])
            try await transaction.tie("Company", company, "board", [staff[0], staff[3]])
            try await transaction.changeEntity(of: [staff[0], staff[3] + 1000], from: "Employee", to: "Guest")
            try expect(try await transaction.column("id", StoreQuery("Employee")), [2, 3, 4], "the employees")
            try expect(try await transaction.targets("Employee", staff[1], "boss"), [], "the boss of 2")
            try expect(try await transaction.targets("Employee", staff[2], "staff"), [], "the staff of 3")
            try expect(try await transaction.targets("Company", company, "head"), [], "the head")
            try expect(try await transaction.targets("Company", company, "board"), [staff[3]], "the board")
            try await transaction.tie("Employee", staff[0], "staff", [staff[1]])
            try await transaction.tie("Company", company, "head", [staff[0]])
            try expect(try await transaction.targets("Employee", staff[1], "boss"), [], "a guest as the boss of 2")
            try expect(try await transaction.targets("Company", company, "head"), [], "a guest as the head")
            try await transaction.changeEntity(of: staff, from: "Guest", to: "Employee")
            let again = try await transaction.records(StoreQuery("Employee", where: PropertyPath("id") == 1))
            try expect(again.map { $0.record["salary"] }, [.null], "the salary of an employee who was a guest")
            try expect(try await transaction.targets("Employee", staff[0], "staff"), [], "the staff of 1")
        }
    }

    private static func refusal(_ store: any Store) async throws {
        let person = try await store.transaction { transaction in
            try await transaction.put("Employee", ["id": 1])
            return try await transaction.put("Guest", ["id": 1]).ids[0]
        }
        try await expect(.identityTaken(entity: "Employee"), "an identity that an employee has") {
            try await store.transaction { try await $0.changeEntity(of: [person], from: "Guest", to: "Employee") }
        }
        try await expect(.unrelatedEntities(former: "Guest", entity: "Note"), "an entity of another family") {
            try await store.transaction { try await $0.changeEntity(of: [person], from: "Guest", to: "Note") }
        }
        try await expect(.abstractEntity(entity: "Shape"), "an abstract entity") {
            try await store.transaction { transaction in
                let circle = try await transaction.put("Circle", ["id": 1]).ids
                try await transaction.changeEntity(of: circle, from: "Circle", to: "Shape")
            }
        }
        try await store.transaction { transaction in
            try await transaction.changeEntity(of: [person], from: "Person", to: "Employee")
            try await transaction.changeEntity(of: [person], from: "Guest", to: "Guest")
            try await transaction.changeEntity(of: [], from: "Guest", to: "Employee")
            let companies = try await transaction.put("Company", ["id": 1]).ids
            try await transaction.changeEntity(of: companies, from: "Company", to: "Company")
        }
        try expect(try await store.count(StoreQuery("Company")), 1, "the company, whose entity stays")
        try expect(try await store.count(StoreQuery("Guest")), 1, "the guest, whose entity was stated wrongly")
    }

    private static func report(_ base: any Store) async throws {
        let store = ObservedStore(base)
        var seen = store.changes().makeAsyncIterator()
        let people = try await store.transaction { transaction in
            let people = try await transaction.put("Employee", ["id": 1], ["id": 2], ["id": 3]).ids
            try await transaction.tie("Employee", people[0], "staff", [people[1]])
            return people
        }
        _ = await seen.next()
        try await store.transaction { transaction in
            try await transaction.changeEntity(of: [people[0]], from: "Employee", to: "Guest")
            let new = try await transaction.put("Employee", ["id": 4]).ids
            try await transaction.changeEntity(of: new, from: "Employee", to: "Guest")
            // There and back again.
            try await transaction.changeEntity(of: [people[2]], from: "Employee", to: "Guest")
            try await transaction.changeEntity(of: [people[2]], from: "Guest", to: "Employee")
        }
        try expect(
            await seen.next(),
            ChangeSet([
                "Employee": ChangeSet.Keys(updated: [.identity(2), .identity(3)], deleted: [.identity(1)]),
                "Guest": ChangeSet.Keys(inserted: [.identity(1), .identity(4)]),
            ]), "what was changed")
    }
}
