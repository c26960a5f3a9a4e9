/// The texts of `--help`.
enum Usage {
    /// What there is help about.
    enum Topic: String, Equatable, CaseIterable {
        case general
        case tour
        case mirror

        /// The command line that shows this help.
        var command: String { self == .general ? "Demo --help" : "Demo \(rawValue) --help" }
    }

    /// A help text, without a line end.
    static func text(_ topic: Topic) -> String {
        switch topic {
        case .general:
            """
            Shows what OneWaySynchronizer does, and mirrors a list of files from any server.

            Usage:
              Demo [tour]                              a tour; needs nothing, ends within 20 seconds
              Demo mirror LIST_URL FOLDER [options]    makes FOLDER equal to what the server lists
              Demo --help | Demo mirror --help         this text, or the one about a command

            Exit codes: 0 done, 1 failed, 64 wrong arguments, 130 stopped by Ctrl-C.
            """
        case .tour:
            """
            A tour: starts a small server inside the process, mirrors it into a temporary folder, and shows on the way
            what a pass is, what a change, an error, a cancel and a second call do. Checks what it claims.

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
        }
    }
}

/// A command line that is not understood. Its description is one line.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    let topic: Usage.Topic

    init(_ message: String, topic: Usage.Topic) {
        self.message = message
        self.topic = topic
    }

    var description: String { "\(Printable.text(message, limit: 200)) (see \(topic.command))" }
}
