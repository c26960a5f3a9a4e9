#if Postgres
/// Functions and operators that fit the calls of a store or a queue better than those of the
/// system, as an attacker would create them.
package enum FunctionTraps {
    private static let signatures = [
        "hashtextextended(text, integer) RETURNS bigint", "unnest(bigint[]) RETURNS SETOF bigint",
        "unnest(text[]) RETURNS SETOF text", "array_agg(bigint) RETURNS bigint[]",
        "nextval(text) RETURNS bigint", "setval(text, bigint) RETURNS bigint",
        "to_regclass(varchar) RETURNS regclass",
        "pg_get_serial_sequence(text, name) RETURNS text", "trap(bigint, integer) RETURNS bigint",
        "clock_timestamp(integer) RETURNS timestamptz", "pg_notify(text, varchar) RETURNS void",
        "md5(varchar) RETURNS text", "count(text) RETURNS bigint", "get_bit(bytea, integer) RETURNS integer",
    ]

    /// Returns statements that create all of them. Each raises the error `trapped`.
    ///
    /// Operators that the system has for the same types are found before them.
    package static func creation(in schema: String) -> String {
        let functions = signatures.map { signature in
            "CREATE FUNCTION \(schema).\(signature) LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped''; END'"
        }
        let operators = ["&", "+", "*", ">>"].map {
            "CREATE OPERATOR \(schema).\($0) (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = \(schema).trap)"
        }
        return (functions + operators).joined(separator: ";")
    }
}
#endif
