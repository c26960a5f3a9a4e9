import OneWayTestLimits
import SyncBase
import SyncModel
import SyncStore
import Testing

/// What the errors of stores say, and what they are about.
@Suite(.endsInTime) struct StoreErrorTests {
    private static let refusal = StoreError.Refusal(entity: "User", reason: .check, databaseError: "secret")

    private static let texts: [(StoreError, ErrorArea, String)] = [
        (.nestedTransaction, .program, "this task already runs a transaction of the store"),
        (.transactionEnded, .program, "the transaction has ended"),
        (
            .abstractEntity(entity: "Being"), .program,
            "Being is abstract; only objects of its sub-entities can exist. "
                + "To sync JSON, register an entity mapper that names the sub-entity of each object"
        ),
        (.identityTaken(entity: "User"), .data, "another User already has this identity"),
        (
            .deletionDenied(entity: "User", relationship: "notes"), .data,
            "User cannot be deleted while its notes leads to an object"
        ),
        (
            .unsuitableValue(entity: "User", attribute: "age"), .program,
            "the value does not have the type of User.age"
        ),
        (.batchOfOtherModel(entity: nil), .program, "the records are not of the store's model"),
        (
            .batchOfOtherModel(entity: "User"), .program,
            "the records are not of the store's model, which declares User differently"
        ),
        (.repeatedObject(entity: "User"), .program, "two records of the request are one User"),
        (
            .wrongMatchCount(entity: "User"), .program,
            "the request does not have one match for each record of User"
        ),
        (
            .relationshipOfOtherModel(relationship: "notes"), .program,
            "the store's model has no relationship notes, or declares it differently"
        ),
        (
            .unrelatedEntities(former: "User", entity: "Note"), .program,
            "User cannot become Note, because no other entity is an ancestor of both"
        ),
        (.refused(refusal), .data, "User: a constraint or trigger of the table refuses the values"),
        (.sumOverflow(entity: "User"), .data, "the sum of values of User is out of range"),
        (.missingObject(entity: "User"), .storage, "the store returned no object for a new User"),
    ]

    @Test(arguments: texts) func anErrorOfAStoreIsOneSentence(error: StoreError, area: ErrorArea, text: String) {
        #expect(error.description == text && error.errorDescription == text && error.errorArea == area)
        let rest = error == .refused(Self.refusal) ? "; secret" : ""
        #expect(error.debugDescription == text + rest)
    }

    private static let refusals: [(StoreError.Refusal.Reason, [String], String)] = [
        (.taken(by: nil), [], "another User already has these values"),
        (.taken(by: nil), ["a", "b"], "another User already has these values of a, b"),
        (.taken(by: .identity(7)), ["a"], "User 7 already has these values of a"),
        (.taken(by: .object(3)), [], "User in row 3 already has these values"),
        (.check, [], "a constraint or trigger of the table refuses the values"),
        (.check, ["a", "b"], "a constraint or trigger of the table refuses a, b"),
        (.unfit, [], "a value does not fit its column exactly"),
        (.unfit, ["a"], "a does not fit its column exactly"),
        (.null, [], "a column has no value, and its column does not accept null"),
        (.null, ["a"], "a has no value, and its column does not accept null"),
        (.missingReference(from: "note"), ["a"], "note refers to a row that does not exist"),
        (.referred(by: "note"), [], "it cannot be deleted, because note refers to it"),
        (.referred(by: "note"), ["a"], "a cannot be changed, because note refers to it"),
        (.referred(by: "note"), ["a", "b"], "a, b cannot be changed, because note refers to them"),
    ]

    @Test(arguments: refusals)
    func aRefusalSaysWhy(reason: StoreError.Refusal.Reason, attributes: [String], text: String) {
        var refusal = StoreError.Refusal(entity: "User", attributes: attributes, reason: reason)
        #expect(refusal.description == "User: \(text)" && refusal.debugDescription == refusal.description)
        refusal.key = .identity([.int(1), .string("x")])
        refusal.index = 4
        refusal.constraint = "rule"
        let values = [AttributeValue.int(1), .string("x")].map(\.description).joined(separator: ", ")
        #expect(refusal.description == "User \(values), element 4: \(text) (rule)")
        refusal.key = .object(9)
        refusal.databaseError = "said so"
        #expect(refusal.debugDescription == "User in row 9, element 4: \(text) (rule); said so")
    }

    private static let unreadable = ObjectReadingError.UnreadableObject(
        key: .object(2), error: .missingValue(entity: "User", property: "name"))

    private static let readingTexts: [(ObjectReadingError, ErrorArea, String)] = [
        (
            .notIncluded(type: "User", property: "notes"), .program,
            "User.notes holds related objects: add including: \\.notes, or declare it as Related"
        ),
        (
            .unknownInclude(type: "User", property: "notes"), .program,
            "User has no related objects notes to include"
        ),
        (.notObservable, .program, "the store does not report commits; wrap it in an ObservedStore"),
        (.foreignPageKey, .program, "the page key belongs to a query with another order"),
        (.unreadable(unreadable), .data, "object 2: User.name has no value"),
    ]

    @Test(arguments: readingTexts)
    func anErrorOfReadingIsOneSentence(error: ObjectReadingError, area: ErrorArea, text: String) {
        #expect(error.description == text && error.errorDescription == text && error.errorArea == area)
        #expect(error.debugDescription == text)
    }

    @Test func onlyTheDebugTextShowsAValue() {
        var object = Self.unreadable
        object.value = 7
        object.allowedValues = [1, 2]
        let text = "object 2: User.name has no value, whose values are \(AttributeValue.list([1, 2]))"
        #expect(object.description == text && object.debugDescription == "\(text); the value is 7")
        #expect(ObjectReadingError.unreadable(object).debugDescription == object.debugDescription)
    }

    /// After most errors, the changes of a transaction may be half done.
    @Test(
        arguments: [
            (StoreError.deletionDenied(entity: "a", relationship: "b"), true),
            (StoreError.batchOfOtherModel(entity: nil), true),
            (StoreError.relationshipOfOtherModel(relationship: "a"), true),
            (StoreError.wrongMatchCount(entity: "a"), true),
            (RecordPredicateError.syntax(byteOffset: 0, expected: "a"), true),
            (StoreError.identityTaken(entity: "a"), false),
            (StoreError.repeatedObject(entity: "a"), false), (CancellationError(), false),
        ] as [(any Error, Bool)])
    func aTransactionGoesOnAfterSomeErrors(error: any Error, goesOn: Bool) throws {
        var state = TransactionState.running
        try state.check()
        state.note(error)
        if goesOn {
            try state.check()
            // Only the first error counts.
            state.note(StoreError.transactionEnded)
            #expect(throws: StoreError.transactionEnded) { try state.check() }
        }
        state.note(StoreError.nestedTransaction)
        let first = goesOn ? StoreError.transactionEnded : error
        for _ in 0..<2 {
            let thrown = #expect(throws: (any Error).self) { try state.check() }
            #expect(thrown.map { "\($0)" } == "\(first)")
        }
        let last = #expect(throws: (any Error).self) { try state.end() }
        #expect(last.map { "\($0)" } == "\(first)")
        #expect(throws: StoreError.transactionEnded) { try state.check() }
    }
}
