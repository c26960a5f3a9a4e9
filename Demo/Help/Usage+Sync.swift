import HTTPSource

extension Usage {
    static let sync = """
        Makes the objects of a store equal to JSON. New objects are inserted, changed
        ones updated, absent ones deleted, and nested ones related. A sync is one
        transaction.

        Usage: Demo sync FILE|URL --entity NAME [options]

          FILE   An array of objects, one object, or newline-delimited JSON;
                 - for standard input
          URL    An http or https address of JSON

        Options:
          --entity NAME          The entity of the objects, which names their table
          --store STORE          sqlite:PATH, postgres://…, or memory: (default), which
                                 ends with the command
          --model MODEL          An .xcdatamodeld, an .xcdatamodel, or the XML inside.
                                 Without it, the model of the database is used, or one
                                 inferred from the JSON
          --key-path A.B         The keys that lead to the array (default: the only list
                                 of objects, if the JSON is one object without a key).
                                 'A{id}' reads the members of an object, with their
                                 keys as id
          --key KEYS             The keys that identify an object together, such as
                                 title,year; for an inferred model or that of --model
          --sample N             Infer the model from the first N objects, or extend it
                                 by them (default all; for a URL, those of the first
                                 \(ObjectSample.pageLimit) pages). From a URL, the sample ends at
                                 \(ObjectSample().byteLimit >> 20) MiB in any case
          --as-json PATHS        The key paths whose values are kept as JSON, such as
                                 spec,meta.raw; for an inferred model. With --evolve,
                                 also keys that were tables until now
          --tables N             The maximum number of tables (default 100); what is
                                 nested beyond them is kept as JSON
          --cache MIB            The memory for pages of an SQLite database, in MiB
                                 (default 4); more makes large syncs in random order
                                 faster
          --dialect sync|groot   The vocabulary of the model's annotations (default
                                 sync); groot needs --model
          --strict               Fail, and change no objects, if the JSON differs from
                                 the model
          --fail-on LIST         The findings that end a sync that is done with exit code
                                 2, separated by commas: rejected, drift, kept,
                                 obstacles (default rejected,obstacles). With drift,
                                 a server's list is read again even if it is unchanged
          --evolve               Extend the model of the database by what is new in the
                                 JSON: keys are added, types widened, and the entity
                                 added if the database lacks it. Without it, such
                                 differences are listed, and not stored
          --rebuild              Infer a new model from the JSON, or use that of --model,
                                 and fill the SQLite database anew, in one transaction;
                                 columns that others added to its tables are dropped,
                                 and named
          --operations LIST      The allowed operations, separated by commas: insert,
                                 update, delete, insertRelationships,
                                 updateRelationships, deleteRelationships (default
                                 all). With insert,update alone, relationships are
                                 ignored, and the summary counts them
          --where CONDITION      Delete only objects for which this holds, such as
                                 'createdAt > 2014-01-01'
          --max-removals N|P%    Fail, and change no objects, if more than N, or more
                                 than P percent, are absent
          --plan                 Show what would happen, and change nothing
          --json                 Print one JSON object and nothing else

        Options for a server:
          --api NAME             A common API, which decides how pages are found:
        \(wrappedNames(HTTPAPI.all.map(\.name) + ["elasticsearch:FIELD", "graphql:CONNECTION"]))
          --pages WAY            How the next page is found: auto (by the usual signs,
                                 if one way leads on), link (the Link field),
                                 link:FIELD (an address in the body), links:FIELD (a
                                 list of links by relation), cursor:FIELD:PARAM,
                                 header:NAME (an address) or header:NAME:PARAM,
                                 body:FIELD:FIELD (into the body), last:FIELD:PARAM (of
                                 the last object), parameters:FIELD, page:PARAM, or
                                 offset:PARAM (default: one page).
                                 Write FIELD? if a list of one page lacks it
          --last-page SIGN       What shows that a page is the last: short, set:FIELD,
                                 unset:FIELD (such as has_more), total:FIELD, or
                                 status:N (of the request for the page after it)
          --inexact-total        The server counts objects that it does not list, or
                                 estimates their number: absent objects are deleted
                                 nevertheless
          --snapshot             All pages show the same state, however long reading
                                 takes: they are not read again before objects are
                                 deleted, and may repeat objects of earlier pages
          --page-size PARAM:N    Ask for N objects per page, such as per_page:100
          --since FIELD[:PARAM]  Ask only for changes since the latest FIELD, with the
                                 query parameter PARAM (default since). Once a day,
                                 everything is read
          --body JSON|@FILE      A body that every request sends by POST
          --header 'NAME: TEXT'  A header field for the server; may be repeated. @FILE
                                 reads one field per line, so that secrets do not
                                 appear in ps
          --header-env NAME=VAR  A header field with the value of a variable
          --timeout TIME         The time limit of a sync, such as 10m (default none)
          --outlast TIME         How long the server may be away (default 30s)
          --rate N/s             The maximum number of requests per second
          --every TIME           Repeat until Ctrl-C, with this pause: 60s, 5m or 2h

        A database keeps its model and uses it in later syncs. Another --model adapts
        the database, and drops what that model lacks; the tables of others keep their
        columns. A sync that then fails changes no objects, but the database stays
        adapted, and the error lists how. One process at a time syncs into a database;
        others wait.

        Examples:
          Demo sync films.json --entity Film --store sqlite:films.db
          Demo sync films.json --entity Film --store sqlite:films.db --plan
          Demo sync newer.json --entity Film --store sqlite:films.db --evolve
          Demo sync https://example.com/films --entity Film --pages link --every 5m

        \(syncExitCodes)
        """

    /// Returns names in indented lines that fit the help.
    private static func wrappedNames(_ names: [String]) -> String {
        var lines: [String] = []
        for (index, name) in names.enumerated() {
            let word = name + (index == names.count - 1 ? "" : ",")
            if let last = lines.last, last.count + word.count < 54 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word)
            }
        }
        return lines.map { String(repeating: " ", count: 25) + $0 }.joined(separator: "\n")
    }
}
