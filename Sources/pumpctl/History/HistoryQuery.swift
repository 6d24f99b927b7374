import Glibc
import LineProtocol
import RecordFormat

/// Asks the program that keeps the record for a table.
struct HistoryQuery {
    private let arguments: [String]

    init(_ table: RecordTable, _ filter: RecordFilter) {
        let words = [
            filter.since.map { "\($0.milliseconds)" }, filter.until.map { "\($0.milliseconds)" }, filter.family,
            filter.device,
        ]
        arguments = ["read", table.rawValue] + words.map { $0 ?? "-" }
    }

    /// Hands out the rows as they come: the names of the columns first, then pieces of JSON.
    func forEachRow(_ body: ([String]) throws(Failure) -> Void) throws(Failure) {
        let (process, socket) = try RecordProgram.start(arguments)
        defer { close(socket) }
        var framer = LineFramer(limit: 1 << 20)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var failure: Failure?
        while failure == nil {
            let count = Glibc.read(socket, &buffer, buffer.count)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                break
            }
            framer.append(buffer.span.extracting(..<count)) { line, _ in
                let text = line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                guard failure == nil, let answer = Answer(line: text[...]) else { return }
                switch answer {
                case .row(let cells): do throws(Failure) { try body(cells) } catch { failure = error }
                case .failing(let trouble): failure = Failure(trouble)
                default: break
                }
            }
        }
        if let failure { throw failure }
        let status = RecordProgram.status(of: process)
        guard status == 0 else {
            throw Failure(.ioError, code: "system", "pumpctl-record ended with status \(status)")
        }
    }
}

extension Failure {
    /// The record can't be read.
    fileprivate init(_ trouble: Trouble) {
        let status: ExitStatus =
            switch trouble.code {
            case "not_found": .noInput
            case "not_permitted": .noPermission
            case "locked": .unavailable
            default: .ioError
            }
        self.init(status, code: trouble.code, trouble.text, hint: trouble.hint)
    }
}
