extension Usage {
    static let query = """
        Shows the objects of a store as a table or as JSON. Without --entity, it lists
        the entities.

        Usage: Demo query --store sqlite:PATH|postgres://… [--entity NAME] [options]

        Options:
          --store STORE          The database, which is not changed
          --entity NAME          The entity of the objects
          --where CONDITION      Only objects for which this holds, such as
                                 'year >= 1980 and title contains "x"'
          --order PROPERTIES     The order, such as 'year desc, title'
          --limit N              The maximum number of objects (default 50 for a table,
                                 all for JSON)
          --columns PROPERTIES   The columns of the table, such as id,title
          --json                 Print a JSON array, like --array
          --array                Print a JSON array with one object per line
          --lines                Print newline-delimited JSON
          --pretty               Print an indented JSON array
          --model MODEL          A model file; without it, the model of the database
          --dialect sync|groot   The vocabulary of the model's annotations

        Examples:
          Demo query --store sqlite:films.db
          Demo query --store sqlite:films.db --entity Film --order 'year desc' --limit 10
          Demo query --store sqlite:films.db --entity Film --where 'year < 1980' --json

        \(exitCodes)
        """

    static let export = """
        Prints the objects of a store as JSON, with the objects that they are related
        to.

        Usage: Demo export --entity NAME --store sqlite:PATH|postgres://… [options]

        Options:
          --entity NAME          The entity of the objects
          --store STORE          The database, which is not changed
          --where CONDITION      Only objects for which this holds, such as
                                 'createdAt > 2014-01-01'
          --array                Print an array with one object per line (default)
          --lines                Print newline-delimited JSON
          --pretty               Print an indented array
          --relationships WAY    Related objects: array (default), nested (as nested
                                 attributes of web frameworks), or none
          --inflection STYLE     The style of keys: snakeCase (default) or camelCase
          --model MODEL          A model file; without it, the model of the database
          --dialect sync|groot   The vocabulary of the model's annotations

        Examples:
          Demo export --entity Film --store sqlite:films.db
          Demo export --entity Film --store sqlite:films.db --where 'year < 1980' --lines

        \(exitCodes)
        """

    static let diff = """
        Shows object by object what a sync of B would change in A. Nothing is changed.

        Usage: Demo diff A B [--entity NAME] [options]

          A   A JSON file, or a database: sqlite:PATH or postgres://…
          B   A JSON file; - for standard input

        Options:
          --entity NAME          The entity of the objects; needed for a database
          --key-path A.B         The keys that lead to the array (default: as in a sync)
          --limit N              The maximum number of objects to show (default 50)
          --model MODEL          A model file; without it, the model of the database, or
                                 one inferred from both files
          --dialect sync|groot   The vocabulary of the model's annotations

        Examples:
          Demo diff films.json newer.json
          Demo diff sqlite:films.db newer.json --entity Film

        \(exitCodes)
        """

    static let history = """
        Lists the latest syncs into a store that changed something or failed, latest
        first.

        Usage: Demo history --store sqlite:PATH|postgres://… [options]

        Options:
          --store STORE          The database, which is not changed
          --entity NAME          Only syncs into this entity
          --limit N              The maximum number of syncs (default 20)
          --json                 Print one JSON object per line

        Examples:
          Demo history --store sqlite:films.db
          Demo history --store sqlite:films.db --limit 1 --json

        \(exitCodes)
        """

    static let repair = """
        Creates the tables, columns, indexes and keys of a store again that somebody has
        dropped or renamed, and indexes that disagree with their rows. What a table or
        column held comes back with the next sync, which reads everything.

        Usage: Demo repair --store sqlite:PATH|postgres://… [options]

        Options:
          --store STORE          The database. No other program may have it open
          --plan                 Show what is missing, and change nothing

        Examples:
          Demo repair --store sqlite:films.db --plan
          Demo repair --store sqlite:films.db

        \(exitCodes)
        """
}
