#if Postgres
import Foundation
import SyncStoreSQL

/// Functions and operators with the names of the system's, for every combination of some types for
/// which the system has none, as an attacker would create them.
package struct GeneratedTraps {
    /// The operators and functions of the system whose names occur in a server's log of statements.
    package struct Names: Sendable {
        package let operators: Set<String>
        package let functions: Set<String>
    }

    /// Reads the names from the log of a server with `log_statement = all`.
    package static func names(in server: PostgresServer, url: String) async throws -> Names {
        let log = try String(contentsOfFile: "\(server.folder)/log", encoding: .utf8)
        let calls = Set(log.matches(of: /([a-z_][a-z0-9_]*)"?\(/).map { String($0.1) })
        let symbols = Set(log.matches(of: /[-+*\/<>=~!@#%^&|]+/).map { String($0.0) })
        let functions = try await PostgresSession.run(
            url, "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace")
        let operators = try await PostgresSession.run(
            url, "SELECT DISTINCT oprname FROM pg_operator WHERE oprkind = 'b'")
        return Names(
            operators: symbols.intersection(operators.compactMap { $0[0] }),
            functions: calls.intersection(functions.compactMap { $0[0] }))
    }

    /// A statement that creates traps in the schema `public`. Each raises the error `trapped`.
    ///
    /// - Parameter groups: The types between which operands are combined.
    package static func creation(_ names: Names, groups: [[String]]) -> String {
        func array(_ texts: some Collection<String>) -> String {
            "ARRAY[\(texts.sorted().map(SQLText.literal).joined(separator: ", "))]::text[]"
        }
        return groups.map { group in
            """
            DO $traps$
            DECLARE l text; r text; n text; ending text; trap text := $body$ LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''trapped''; END'$body$;
            BEGIN
                FOREACH l IN ARRAY \(array(group)) LOOP
                    FOREACH n IN ARRAY \(array(names.functions)) LOOP
                        FOREACH ending IN ARRAY ARRAY['', ', integer', ', integer, integer'] LOOP
                            IF to_regprocedure(format('pg_catalog.%I(%s%s)', n, l, ending)) IS NULL
                                AND to_regprocedure(format('public.%I(%s%s)', n, l, ending)) IS NULL THEN
                                EXECUTE format('CREATE FUNCTION public.%I(%s%s) RETURNS text %s', n, l, ending, trap);
                            END IF;
                        END LOOP;
                        FOREACH r IN ARRAY \(array(group)) LOOP
                            IF to_regprocedure(format('pg_catalog.%I(%s, %s)', n, l, r)) IS NULL
                                AND to_regprocedure(format('public.%I(%s, %s)', n, l, r)) IS NULL THEN
                                EXECUTE format('CREATE FUNCTION public.%I(%s, %s) RETURNS text %s', n, l, r, trap);
                            END IF;
                        END LOOP;
                    END LOOP;
                    FOREACH r IN ARRAY \(array(group)) LOOP
                        IF to_regprocedure(format('public.trap(%s, %s)', l, r)) IS NULL THEN
                            EXECUTE format('CREATE FUNCTION public.trap(%s, %s) RETURNS boolean %s', l, r, trap);
                        END IF;
                        FOREACH n IN ARRAY \(array(names.operators)) LOOP
                            IF to_regoperator(format('pg_catalog.%s(%s, %s)', n, l, r)) IS NULL
                                AND to_regoperator(format('public.%s(%s, %s)', n, l, r)) IS NULL THEN
                                EXECUTE format(
                                    'CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.trap)',
                                    n, l, r);
                            END IF;
                        END LOOP;
                    END LOOP;
                END LOOP;
            END $traps$
            """
        }.joined(separator: ";\n")
    }
}
#endif
