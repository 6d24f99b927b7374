import DescriptorIO
import Glibc
import RecordFormat
import Recorder
import StrictJSON

/// The program by which `pumpctl` and other programs write and read the record. It is linked with SQLite, so that
/// `pumpctl` is not.
///
///     pumpctl-record write                                stores the records of standard input, a line each, and
///                                                         carries out requests: store or mark a message, commit
///     pumpctl-record read TABLE SINCE UNTIL FAMILY DEVICE prints the rows of a table
///     pumpctl-record messages STATUS CATEGORY NEWEST      prints messages; with a number for NEWEST, only that many,
///                                                         the last stored one first
///     pumpctl-record fold COLUMNS SINCE UNTIL FAMILY DEVICE prints values for a chart: the time has COLUMNS parts,
///                                                         1 to 10000, with at most two points of a series in each
///     pumpctl-record where                                the database: its path, its size in bytes (0 if none),
///                                                         and whether it has the index by sessions (true if
///                                                         there is no database)
///     pumpctl-record optimize                             builds that index; prints whether it was missing (false if
///                                                         the database is small: opening it for writing has
///                                                         built the index)
///
/// SINCE and UNTIL are milliseconds since 1970-01-01T00:00:00Z. The word `-` stands for no such filter. Each line of
/// input is a `Record` or a `MessageRequest`, and each line of output is an `Answer`. After a failure, the exit status
/// is 64, 66, 74 or 77, as in sysexits.h.
@main
enum PumpctlRecord {
    static func main() async {
        // Ctrl-C is meant for pumpctl, which then ends the input. A file at its size limit causes an error like any
        // other.
        for number in [SIGINT, SIGHUP, SIGQUIT, SIGXFSZ, SIGPIPE] { signal(number, SIG_IGN) }
        let arguments = ProgramArguments.typed(by: "pumpctl-record")
        do throws(RecorderError) {
            guard let path = RecordFile.path else {
                throw RecorderError(.noPlace, path: "the record", activity: "find")
            }
            switch (arguments.first, arguments.count) {
            case ("write", 1):
                // A SIGTERM of `timeout`, of a service manager or of a shutdown comes to pumpctl and to this process.
                // pumpctl ends, which ends the input, and the remaining records are written.
                signal(SIGTERM, SIG_IGN)
                var writing = Writing(path)
                await writing.run()
            case ("read", 6): try read(path, arguments[1...])
            case ("messages", 4): try readMessages(path, arguments[1...])
            case ("fold", 6): try fold(path, arguments[1...])
            case ("where", 1): try showPlace(path)
            case ("optimize", 1): Output.say(.row([try RecordFile.optimize(path) ? "true" : "false"]))
            default: exit(64)
            }
        } catch {
            Output.say(.failing(Trouble(error)))
            exit([.notFound, .noPlace].contains(error.code) ? 66 : error.code == .notPermitted ? 77 : 74)
        }
    }

    private static func readMessages(_ path: String, _ words: ArraySlice<String>) throws(RecorderError) {
        let words = words.map { $0 == "-" ? nil : $0 }
        let filter = MessageFilter(
            status: words[0].flatMap(StoredMessage.Status.init), category: words[1],
            newest: words[2].flatMap { Int($0) })
        var output = Output()
        try RecordReader(path).readMessages(filter) { message in output.add(.message(message)) }
        output.flush()
    }

    private static func read(_ path: String, _ words: ArraySlice<String>) throws(RecorderError) {
        let words = words.map { $0 == "-" ? nil : $0 }
        guard let table = words[0].flatMap(RecordTable.init) else { exit(64) }
        var output = Output()
        try RecordReader(path).read(table, RecordFilter(words[1...])) { cells in output.add(.row(cells)) }
        output.flush()
    }

    private static func fold(_ path: String, _ words: ArraySlice<String>) throws(RecorderError) {
        let words = words.map { $0 == "-" ? nil : $0 }
        // More columns than a chart has pixels show nothing more. The limit bounds the output.
        guard let columns = words[0].flatMap({ Int($0) }), 1...10000 ~= columns else { exit(64) }
        var output = Output()
        for series in try RecordReader(path).fold(RecordFilter(words[1...]), columns: columns) {
            output.add(.series(series))
        }
        output.flush()
    }

    private static func showPlace(_ path: String) throws(RecorderError) {
        var (bytes, isOptimized) = (0, true)
        do {
            bytes = try RecordFile.byteCount(path)
            isOptimized = try RecordReader(path).isOptimized
        } catch  where error.code == .notFound {
            // Nothing has been recorded yet.
        }
        Output.say(.row([JSONValue.quoted(path), "\(bytes)", isOptimized ? "true" : "false"]))
    }
}

extension RecordFilter {
    /// Parses the words SINCE UNTIL FAMILY DEVICE; nil stands for no such filter.
    fileprivate init(_ words: ArraySlice<String?>) {
        self.init()
        let words = Array(words)
        since = words[0].flatMap { Int64($0) }.map { RecordTime(milliseconds: $0) }
        until = words[1].flatMap { Int64($0) }.map { RecordTime(milliseconds: $0) }
        (family, device) = (words[2], words[3])
    }
}

extension Trouble {
    init(_ error: RecorderError) { self.init(code: error.code.rawValue, text: "\(error)", hint: error.hint) }
}
