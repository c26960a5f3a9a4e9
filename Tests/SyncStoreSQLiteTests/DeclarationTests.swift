import OneWayTestLimits
import Testing

@testable import SyncStoreSQLite

/// What tables of others declare, read as SQLite reads it.
@Suite(.endsInTime) struct DeclarationTests {
    @Test func columnsHaveTheirDeclarationsWordByWord() {
        let declarations = SQLiteDeclarations(
            """
            CREATE TABLE "a (b" ("id" INTEGER, name TEXT COLLATE NOCASE DEFAULT 'x, (y''', -- a, comment (
                `tick``s` DECIMAL(10, 2) CHECK (id > 0 AND (name <> ')')), /* , ( */ [in [brackets] BLOB,
                'text' TEXT, plain, near/* , */TEXT, dash--, (
                INT, quoted"TEXT", "q""uote" AS (id * 2) STORED, e(5), CONSTRAINT c UNIQUE (id, name),
                later TEXT) STRICT
            """)
        let expected = [
            "id": "INTEGER", "name": "TEXT COLLATE NOCASE DEFAULT 'x, (y'''",
            "tick`s": "DECIMAL(10, 2) CHECK (id > 0 AND (name <> ')'))", "in [brackets": "BLOB", "text": "TEXT",
            "plain": "", "near": "/* , */TEXT", "dash": "--, (\n    INT", "quoted": "\"TEXT\"",
            "q\"uote": "AS (id * 2) STORED", "e": "(5)",
        ]
        for (name, declaration) in expected { #expect(declarations[name] == declaration, "\(name)") }
        #expect(declarations["NAME"] == declarations["name"])
        // After the first constraint come only constraints.
        for name in ["constraint", "c", "later", "a", "b"] { #expect(declarations[name] == nil) }
    }

    @Test(arguments: ["PRIMARY KEY (a)", "UNIQUE (a)", "CHECK (a > 1)", "FOREIGN KEY (a) REFERENCES t", "check(a)"])
    func constraintsAreNoColumns(constraint: String) {
        let declarations = SQLiteDeclarations("CREATE TABLE t (a INT, \(constraint), b)")
        #expect(declarations["a"] == "INT")
        #expect(declarations["b"] == nil)
        #expect(declarations[String(constraint.prefix { $0.isLetter })] == nil)
    }

    @Test(arguments: [
        ("1", "1"), ("'text'", "'text'"), ("word", "'word'"), ("\"quo\"\"ted\"", "'quo\"ted'"),
        ("`a``b`", "'a`b'"), ("[in brackets]", "'in brackets'"), ("it$", "'it$'"),
        ("éĀ", "'éĀ'"),
        ("_x9", "'_x9'"), ("9x", "9x"), ("-5", "-5"), ("x'00'", "x'00'"),
        ("TRUE", "TRUE"),
        ("CURRENT_DATE", "CURRENT_DATE"), ("current_timestamp", "current_timestamp"),
        ("'current_time'", "'current_time'"), ("random()", "random()"), ("'('", "'('"),
        ("1 + 2", "1 + 2"), ("lower('A')", "lower('A')"), ("it's", "it's"),
    ])
    func aDefaultMeansTheSameInAnyStatement(text: String, expression: String) {
        #expect(SQLiteDefault(text)?.expression == expression)
    }

    @Test func nullIsNoDefault() {
        #expect(SQLiteDefault("NULL") == nil)
        #expect(SQLiteDefault("null") == nil)
        #expect(SQLiteDefault("'null'") != nil)
    }

    @Test(arguments: [
        ("INTEGER", SQLiteAffinity.integer), ("bigint", .integer), ("CHARINT", .integer), ("varchar(9)", .text),
        ("CLOB", .text),
        ("Text", .text), ("", .none), ("blob", .none), ("REAL", .real), ("FLOAT", .real), ("DOUBLE PRECISION", .real),
        ("NUMERIC", .numeric), ("DATETIME", .numeric), ("ANY", .numeric),
    ])
    func aTypeHasAnAffinity(type: String, affinity: SQLiteAffinity) {
        #expect(SQLiteAffinity(declaredType: type, isStrict: false) == affinity)
        #expect(SQLiteAffinity(declaredType: type, isStrict: true) == (type == "ANY" ? .any : affinity))
    }
}
