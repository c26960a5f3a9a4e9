import OneWayTestLimits
import SyncModel
import SyncStoreSQL
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
        ("1", "1", true), ("'text'", "'text'", true), ("word", "'word'", true), ("\"quo\"\"ted\"", "'quo\"ted'", true),
        ("`a``b`", "'a`b'", true), ("[in brackets]", "'in brackets'", true), ("it$", "'it$'", true),
        ("éĀ", "'éĀ'", true),
        ("_x9", "'_x9'", true), ("9x", "9x", true), ("-5", "-5", true), ("x'00'", "x'00'", true),
        ("TRUE", "TRUE", true),
        ("CURRENT_DATE", "CURRENT_DATE", false), ("current_timestamp", "current_timestamp", false),
        ("'current_time'", "'current_time'", true), ("random()", "random()", false), ("'('", "'('", true),
        ("1 + 2", "1 + 2", true), ("lower('A')", "lower('A')", false), ("it's", "it's", true),
    ])
    func aDefaultMeansTheSameInAnyStatement(text: String, expression: String, isConstant: Bool) {
        let found = SQLiteDefault(text)
        #expect(found?.expression == expression)
        #expect(found?.isConstant == isConstant)
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
