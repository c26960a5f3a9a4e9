#if Postgres
import Foundation

/// The programs of an installed PostgreSQL.
struct PostgresTools {
    /// Where they are.
    let folder: String

    /// The newest ones: those of the path, or in Debian's folder; nil where there are none.
    static let found: PostgresTools? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let debian = versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
        let folder = (path + debian).first { folder in
            ["initdb", "pg_ctl", "postgres"].allSatisfy {
                FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
            }
        }
        return folder.map(PostgresTools.init)
    }()

    /// The command that holds a server: as another user where this one is root, which PostgreSQL
    /// does not run as.
    var command: [String] {
        let shell = ["/bin/sh", "-c", Self.script]
        guard getuid() == 0, let user = getpwnam("postgres") ?? getpwnam("nobody") else { return shell }
        let identity = ["--reuid=\(user.pointee.pw_uid)", "--regid=\(user.pointee.pw_gid)", "--clear-groups"]
        return ["/usr/bin/env", "setpriv"] + identity + shell
    }

    /// Variables `OWS_…` come from the environment. The first line of the output is the folder,
    /// empty where the server did not start; then each command is answered by one line: `ok`, or
    /// what went wrong.
    private static let script = #"""
        trap '' INT TERM HUP PIPE
        umask 077
        folder=$(mktemp -d /tmp/ows-pg-XXXXXX) || exit 1
        cd "$folder" && data=$folder/data

        # The processes that a process has started.
        children() {
            if [ -d /proc/self ]; then
                for stat in /proc/[0-9]*/stat; do
                    read -r pid name state parent rest <"$stat" && [ "$parent" = "$1" ] && echo "$pid"
                done
            else
                pgrep -P "$1"
            fi
        } 2>/dev/null

        launch() {
            "$OWS_POSTGRES/postgres" -D "$data" -k "$folder" >>"$folder/log" 2>&1 &
            server=$!
            # Its number and its state, in a file that a server which was killed leaves behind.
            until sed -n '1p;8p' "$data/postmaster.pid" 2>/dev/null | tr -d ' \n' | grep -qE "^${server}(ready|standby)$"; do
                kill -0 "$server" 2>/dev/null || return 1
                sleep 0.02
            done
        }

        # Again where processes of a server that was killed are not quite gone yet.
        start() {
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                launch && return
                sleep 0.2
            done
            return 1
        }

        # Without a checkpoint; connections are told.
        stop() {
            kill -QUIT "$server" 2>/dev/null
            wait "$server"
            true
        }

        # As a power failure would.
        slay() {
            backends=$(children "$server")
            kill -KILL "$server" $backends 2>/dev/null
            wait "$server"
            true
        } 2>/dev/null

        answer() {
            if "$@"; then echo ok; else tail -n 5 "$folder/log" | tr '\n' ' '; echo; fi
        }

        if [ -n "$OWS_PRIMARY" ]; then
            # -R makes the copy a standby that follows the primary.
            # It may be missing where the other programs are only links.
            "$(dirname "$(readlink -f "$OWS_POSTGRES/postgres")")/pg_basebackup" -D "$data" -h "$OWS_PRIMARY" -U postgres -R -c fast --no-sync >>"$folder/log" 2>&1
        else
            "$OWS_POSTGRES/initdb" -D "$data" -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >>"$folder/log" 2>&1
        fi
        printf '%s\n' "$OWS_SETTINGS" >>"$data/postgresql.conf"
        printf 'local all %s scram-sha-256\nlocal all,replication all trust\nhost all all 127.0.0.1/32 trust\n' "$OWS_ROLE" >"$data/pg_hba.conf"
        if start; then echo "$folder"; else cat "$folder/log" >&2; echo; fi
        while read -r command; do
            case $command in
                start) answer start ;;
                stop) answer stop ;;
                kill) answer slay ;;
                standby) answer touch "$data/standby.signal" ;;
            esac
        done
        stop
        cd / && rm -rf "$folder"
        """#
}
#endif
