#if Postgres
import OneWayPostgresClient
import SyncModel
import SyncStoreSQL

extension PostgresMigration {
    /// Converts the values of a column into a temporary table, or checks that they fit, in batches.
    func convert(_ conversion: SQLValueConversion) throws {
        if let values = conversion.values { try connection.execute(values.creation) }
        try connection.execute("DECLARE _sync_conversion NO SCROLL CURSOR FOR \(conversion.selection)")
        while true {
            let rows = try connection.query(
                "FETCH FORWARD \(PostgresWorker.nearRowCount) FROM _sync_conversion", binaryResult: true)
            guard rows.rowCount > 0 else { break }
            var objects: [ObjectID] = []
            var values: [SQLBinding] = []
            for row in 0..<rows.rowCount {
                guard let object = rows.integer(row, 0) else { continue }
                let value = try conversion.converted(rows.value(row, 1, as: conversion.type), of: object) {
                    let found = try connection.query(conversion.identity(of: object), binaryResult: true)
                    guard found.rowCount > 0 else { return [] }
                    return conversion.identityTypes.enumerated().map { found.value(0, $0.offset, as: $0.element) }
                }
                objects.append(object)
                values.append(schema.binding(value))
            }
            guard let insertion = conversion.values?.insertion else { continue }
            try connection.run(
                insertion, [.objects(objects), .typed(PostgresText.array(values), as: "text[]")])
        }
        try connection.execute("CLOSE _sync_conversion")
    }
}
#endif
