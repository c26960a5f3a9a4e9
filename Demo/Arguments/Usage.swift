import HTTPTransfer

/// The help texts of the command.
enum Usage {
    /// The topic of a help text.
    enum Topic: String, Equatable, CaseIterable {
        case general
        case tour
        case mirror
        case sync
        case export
        case model

        /// The command line that shows this help.
        var command: String { self == .general ? "Demo --help" : "Demo \(rawValue) --help" }
    }

    /// Returns a help text, without a final newline.
    static func text(_ topic: Topic) -> String {
        switch topic {
        case .general:
            """
            Shows what OneWaySynchronizer does: mirrors files from any server, syncs JSON into databases.

            Usage:
              Demo [tour]                              a tour; needs nothing, ends within 20 seconds
              Demo mirror LIST_URL FOLDER [options]    makes FOLDER equal to what the server lists
              Demo sync FILE|URL --entity NAME         makes the objects of a store equal to those of JSON
              Demo export --entity NAME --store STORE  prints the objects of a store as JSON
              Demo model FILE [options]                prints a model made of JSON, or of a Core Data model
              Demo --help | Demo COMMAND --help        this text, or the one about a command

            Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C.
            """
        case .tour:
            """
            A tour: starts a small server inside the process, mirrors it into a temporary folder, and shows on the way
            what a pass is, what a change, an error, a cancel and a second call do. Then it syncs JSON into databases.
            Checks what it claims.

            Usage: Demo [tour]

            Exit codes: 0 everything was as claimed, 1 something was not.
            """
        case .mirror:
            """
            Makes FOLDER equal to what a server lists: fetches what is new or changed, removes what is gone.

            Usage: Demo mirror LIST_URL FOLDER [options]

              LIST_URL   http or https; a JSON array of objects:
                           key           what identifies the item; any text
                           url           where its content is; may be relative to LIST_URL
                           revision      optional text or number that changes when the content does; without it the
                                         item is fetched every time
                           order         optional whole number; lower ones are fetched first
                           preview_url   optional address of a preview, kept in FOLDER/previews
              FOLDER     made if there is none; what the mirror knows is kept in FOLDER/.mirror

            Options:
              --concurrency N        downloads at a time, 1 to 1000 (default 8)
              --keep-going           go on after an item's error, and report all of them at the end
              --dry-run              show what would happen, and change nothing
              --max-removals N|P%    fail before removing anything when more than N files, or more than P percent of
                                     them, are gone from the list
              --every SECONDS        mirror again and again, that long after each end, until Ctrl-C

            A request is tried up to 4 times when it fails in a way that may pass. Files appear when they are whole.
            Ctrl-C lets nothing half done behind; a second one ends the process at once.

            Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C.
            """
        case .sync:
            """
            Makes the objects of a store equal to those of a JSON file or a server: inserts what is new, updates what
            differs, deletes what is absent, relates what is nested. All of it happens, or nothing does.

            Usage: Demo sync FILE|URL --entity NAME [options]

              FILE   an array of objects, or one object; - for standard input
              URL    the same at an address with http or https

            Options:
              --entity NAME          what the objects are
              --model MODEL          an .xcdatamodeld, an .xcdatamodel or its XML; without it a model is made of the JSON
              --store STORE          sqlite:PATH, postgres://…, or memory: (default), which ends with the command
              --key-path A.B         the keys that lead to the array
              --dialect sync|groot   how the model says what keys mean (default sync); groot needs --model
              --operations LIST      what may be done, commas between: insert, update, delete, insertRelationships,
                                     updateRelationships, deleteRelationships (default all)
              --where CONDITION      delete only where this holds, such as 'createdAt > 2014-01-01'
              --max-removals N|P%    fail, with nothing done, when more than N objects, or more than P percent of
                                     them, are absent
              --plan                 show what would happen, and change nothing
              --json                 print one JSON object and nothing else, also about a failure

            Options for a server:
              --pages WAY            how the list goes on: link (the Link field of the head), link:FIELD (an address in
                                     the body), cursor:FIELD:PARAM, page:PARAM; one response where it is not said
              --since FIELD[:PARAM]  ask for what has changed alone, by the latest FIELD that was seen, as the query
                                     parameter PARAM (default since); everything once a day
              --header 'NAME: TEXT'  sent with each request, to that server alone; may be given several times
              --rate N/s             so many requests a second
              --every TIME           sync again and again, that long after each end, until Ctrl-C; 60s, 5m or 2h

            A server that says that nothing has changed costs a request, and nothing is written. A request is made up
            to 5 times when it fails in a way that may pass.

            The model of a database is kept with it (of a file beside it, in PATH.model.xml), and used from then on
            where --model is not given. Another --model adapts the database to it: what that model does not have is
            dropped. One process at a time syncs into a database; another one says who does, and waits.

            Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C.
            """
        case .export:
            """
            Prints the objects of a store as a JSON array, with what they are related to.

            Usage: Demo export --entity NAME --store sqlite:PATH|postgres://… [options]

            Options:
              --entity NAME                       what the objects are
              --store STORE                       the database, which is not changed
              --model MODEL                       an .xcdatamodeld, an .xcdatamodel or its XML; without it the model
                                                  that is kept beside the database
              --dialect sync|groot                how the model says what keys are written (default sync)
              --relationships array|nested|none   related objects in arrays (default), as web frameworks take nested
                                                  attributes, or left out
              --inflection snakeCase|camelCase    the style of keys (default snakeCase)
              --where CONDITION                   only objects for which this holds, such as 'createdAt > 2014-01-01'

            Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C.
            """
        case .model:
            """
            Prints a model: one made of a sample of JSON, or the one that a Core Data model file has.

            Usage: Demo model FILE [options]

              FILE   JSON (an array of objects, or one), an .xcdatamodeld, an .xcdatamodel or its XML;
                     - for standard input

            Options:
              --format swift|xcdatamodel   Swift source (default), or the XML of an .xcdatamodel folder's 'contents'
              --entity NAME                what the objects of the JSON are (default Item)
              --key-path A.B               the keys that lead to the array in the JSON

            Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C.
            """
        }
    }
}

/// An error for an invalid command line. Its description is one line.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    let topic: Usage.Topic

    init(_ message: String, topic: Usage.Topic) {
        self.message = message
        self.topic = topic
    }

    var description: String { "\(PrintableText.line(message, limit: 200)) (see \(topic.command))" }
}
