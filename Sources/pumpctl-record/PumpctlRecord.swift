import Glibc
import RecordFormat
import Recorder

/// What `pumpctl` starts to record, and to look up what was recorded: it is linked with SQLite, so that `pumpctl` is not.
///
///     pumpctl-record write                                records and requests from standard input, a line each
///     pumpctl-record read TABLE SINCE UNTIL FAMILY DEVICE rows to standard output; - for no such filter
///     pumpctl-record messages STATUS CATEGORY             messages to standard output
///     pumpctl-record where                                the path of the database, and how many bytes it has
@main
enum PumpctlRecord {
    static func main() async {
        // Whoever interrupts means pumpctl, which ends the input. A file that may grow no further is an error like others.
        for number in [SIGINT, SIGHUP, SIGQUIT, SIGXFSZ, SIGPIPE] { signal(number, SIG_IGN) }
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(RecorderError) {
            guard let path = RecordFile.path else {
                throw RecorderError(.noPlace, path: "the record", activity: "find")
            }
            switch (arguments.first, arguments.count) {
            case ("write", 1):
                var writing = Writing(path)
                await writing.run()
            case ("read", 6): try read(path, arguments[1...])
            case ("messages", 3): try readMessages(path, arguments[1...])
            case ("where", 1): Output.say(.row([JSONText.quoted(path), "\(try RecordFile.byteCount(path))"]))
            default: exit(64)
            }
        } catch {
            Output.say(.failing(Trouble(error)))
            exit([.notFound, .noPlace].contains(error.code) ? 66 : error.code == .notPermitted ? 77 : 74)
        }
    }

    private static func readMessages(_ path: String, _ words: ArraySlice<String>) throws(RecorderError) {
        let words = words.map { $0 == "-" ? nil : $0 }
        let filter = MessageFilter(status: words[0].flatMap(StoredMessage.Status.init), category: words[1])
        var output = Output()
        try RecordReader(path).readMessages(filter) { message in output.add(.message(message)) }
        output.flush()
    }

    private static func read(_ path: String, _ words: ArraySlice<String>) throws(RecorderError) {
        let words = words.map { $0 == "-" ? nil : $0 }
        guard let table = words[0].flatMap(RecordTable.init) else { exit(64) }
        var filter = RecordFilter()
        filter.since = words[1].flatMap { Int64($0) }.map { RecordTime(milliseconds: $0) }
        filter.until = words[2].flatMap { Int64($0) }.map { RecordTime(milliseconds: $0) }
        (filter.family, filter.device) = (words[3], words[4])
        var output = Output()
        try RecordReader(path).read(table, filter) { cells in output.add(.row(cells)) }
        output.flush()
    }
}

extension Trouble {
    init(_ error: RecorderError) { self.init(code: error.code.rawValue, text: "\(error)", hint: error.hint) }
}
