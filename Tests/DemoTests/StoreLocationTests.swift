import OneWayTestLimits
import Testing

@testable import Demo

@Suite(.endsInTime) struct StoreLocationTests {
    @Test(arguments: [
        "memory:", "sqlite:a/b.db", "postgres://h/d", "postgresql://h:1,[::1]:2/d", "postgres://ada@h:1/d",
        "postgres:///d?host=/x&port=57432&user=ada", "postgres://h/d?dbname=e&sslmode=require&service=s",
        "postgres:///d?user=ada@h", "postgres://",
    ])
    func aLocationWithoutSecretsIsShownInFull(text: String) throws {
        let store = try #require(StoreLocation(text))
        #expect(store.description == text && store.isShownInFull)
    }

    @Test(arguments: [
        ("postgres://ada:pw@h/d", "postgres://ada@h/d"), ("postgres://:pw@h/d", "postgres://h/d"),
        ("postgres://ada:pw?x@h/d", "postgres://ada@h/d"), ("postgres://ada:p@w@h/d", "postgres://…"),
        ("postgres://ada:p/w@h/d", "postgres://…"), ("postgres://ada:p?w/x@h/d", "postgres://…"),
        ("postgresql://ada:pw@\u{301}h/d", "postgresql://ada@\u{301}h/d"),
        ("postgres://h/d?password=pw&user=ada&sslpassword=x", "postgres://h/d?user=ada"),
        ("postgres://h/d?%70assword=pw", "postgres://h/d"), ("postgres://h/d?pw", "postgres://h/d"),
        ("sqlite:a\nb", "sqlite:a?b"),
    ])
    func whatMayBeSecretIsLeftOut(text: String, shown: String) throws {
        let store = try #require(StoreLocation(text))
        #expect(store.description == shown && !store.isShownInFull)
    }

    /// The advice names the database that was synced, or says what it lacks.
    @Test(arguments: [
        ("postgres://ada@h:1/d", "postgres://ada@h:1/d", true),
        ("postgres:///d?host=/x&user=ada", "'postgres:///d?host=/x&user=ada'", true),
        ("postgres://ada:pw@h/d?dbname=e", "'postgres://ada@h/d?dbname=e'", false),
    ])
    func theAdviceNamesTheSameDatabase(store: String, word: String, isFull: Bool) throws {
        let advice = try SyncArguments(["a.json", "--entity", "User", "--store", store]).advice
        let hint = "The next line leaves out parts of --store, such as a password; add them."
        let expected = (isFull ? [] : [hint]) + ["Next: Demo query --store \(word) --entity User"]
        #expect(advice == expected)
    }
}
