extension Usage {
    static let general = """
        Syncs JSON into databases, and mirrors files from servers.

        Usage:
          Demo [tour]                     Presents all features; ends within 20 seconds
          Demo sync FILE|URL              Makes a database equal to JSON
          Demo query --store STORE        Shows the objects of a database
          Demo diff A B                   Shows what a sync of B would change in A
          Demo export --store STORE       Prints the objects of a database as JSON
          Demo history --store STORE      Lists the latest syncs into a database
          Demo repair --store STORE       Creates lost parts of a database's tables again
          Demo model FILE                 Prints a model as Swift source or XML
          Demo mirror LIST_URL FOLDER     Makes a folder equal to a server's list
          Demo COMMAND --help             Describes a command
          Demo --version                  Prints the version

        Examples:
          Demo sync films.json --entity Film --store sqlite:films.db
          Demo query --entity Film --store sqlite:films.db --order 'year desc'
          Demo export --entity Film --store sqlite:films.db --pretty

        Colours are used only on a terminal, and not if NO_COLOR is set.

        \(exitCodes)
        """

    static let tour = """
        Presents all features and checks every claim that it makes. It mirrors a server
        inside the process into a temporary folder, and syncs JSON into databases.

        Usage: Demo [tour]

        Exit codes: 0 all claims are true, 1 a claim is false.
        """

    static let model = """
        Prints a model. It is inferred from a sample of JSON, or read from a Core Data
        model file.

        Usage: Demo model FILE [options]

          FILE   JSON, newline-delimited JSON, an .xcdatamodeld, an .xcdatamodel, or
                 the XML inside; - for standard input

        Options:
          --format FORMAT    swift (default): a type for each entity. A model of more
                             than 100 entities is printed as functions, because so many
                             types take minutes to compile. swift-types and
                             swift-functions choose one; xcdatamodel prints the XML
          --entity NAME      The entity of the objects in the JSON (default Item)
          --key-path A.B     The keys that lead to the array in the JSON
          --key KEYS         The keys that identify an object, such as title,year
          --sample N         Infer the model from the first N objects (default all)
          --as-json PATHS    The key paths whose values are kept as JSON
          --tables N         The maximum number of entities (default 100)

        Examples:
          Demo model films.json --entity Film
          Demo model films.json --entity Film --format swift-functions
          Demo model films.json --entity Film --format xcdatamodel

        \(exitCodes)
        """

    static let mirror = """
        Makes a folder equal to a server's list. New and changed files are downloaded,
        and files that the list lacks are removed.

        Usage: Demo mirror LIST_URL FOLDER [options]

          LIST_URL   The address of a JSON array of objects with these keys:
                       key           The path in FOLDER, such as docs/a.txt
                       url           The address of the content; may be relative
                       revision      Optional; changes when the content changes.
                                     Without it the server is asked each time
                       size          Optional size in bytes, which is checked
                       sha256        Optional SHA-256, which is checked
                       order         Optional number; lower ones come first
                       preview_url   Optional address of a preview, which is kept
                                     in FOLDER/.mirror/previews
                     or of an index of a folder (nginx, Apache), or of a text with
                     an address on each line
          FOLDER     Is created if necessary. The mirror keeps its records in
                     FOLDER/.mirror

        Options:
          --concurrency N        Concurrent downloads, 1 to 1000 (default 8)
          --keep-going           Continue after an item's error, and report all errors
                                 at the end
          --dry-run              Show what would happen, and change nothing
          --max-removals N|P%    Fail before removing anything if more than N files, or
                                 more than P percent of them, are gone from the list
          --every TIME           Repeat until Ctrl-C, with this pause: 60s, 5m or 2h
          --header 'NAME: TEXT'  A header field for the origin of LIST_URL; may be
                                 repeated. @FILE reads one field per line, so that
                                 secrets do not appear in ps
          --header-env NAME=VAR  A header field with the value of a variable
          --rate N/s             The maximum number of requests per second
          --timeout TIME         The time limit of each attempt to download an item,
                                 such as 10m (default none)
          --outlast TIME         How long a server may be away (default 30s)
          --json                 Print one JSON object and nothing else
          --allow-http           Accept http items in a list that came by https
          --check-all            Ask the server about each file of an index, whatever
                                 its date and size

        Transient failures are retried. Files appear only when they are complete, and
        interrupted downloads continue, also in the next run. Ctrl-C leaves nothing
        incomplete; a second one ends at once.

        Examples:
          Demo mirror https://example.com/list.json folder --dry-run
          Demo mirror https://example.com/list.json folder --max-removals 20%

        \(exitCodes)
        """
}
