internal import DescriptorIO
internal import Glibc
internal import LineProtocol
public import RecordFormat

/// A running `pumpctl-record` with its requests and answers. Every call may block on the disk, so don't call it on the
/// event loop's thread.
public final class RecordConversation {
    /// The running program; nil once it has ended and was reaped.
    private var process: pid_t?
    /// The exit status of the program, once it was reaped.
    private var status: CInt = 0
    private let socket: CInt
    /// Cuts the output into answers, one a line. The limit is above the size of the longest answer, a series of 20,000
    /// points.
    private var framer = LineFramer(limit: 1 << 20)
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)
    private var answers: ArraySlice<Answer> = []
    /// The problem that the program has reported and that has not passed; nil if there is none. If the program fails,
    /// this problem is the reason.
    private var trouble: Trouble?

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `pumpctl-record`.
    ///   - program: The program; nil for the installed one.
    /// - Throws: `Trouble` if the program can't be started.
    public init(_ arguments: [String], by program: CompanionProgram? = nil) throws(Trouble) {
        let start = try CompanionProgram.recorder(program).start(arguments)
        (process, socket) = (start.process, start.socket)
    }

    /// Closes the program's input, which ends the program after its work.
    deinit {
        close(socket)
        if let process { ProcessEnd.reapLater(process) }
    }

    /// Sends requests to the program.
    ///
    /// - Throws: If the program has ended, the problem that it has reported, or `lost`. Unread answers are dropped.
    public func ask(_ requests: [MessageRequest]) throws(Trouble) {
        var bytes: [UInt8] = []
        for request in requests {
            bytes += request.line.utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count < 0, errno != EINTR {
                // Ends the program if it still runs: it may wait for the rest of a request.
                shutdown(socket, CInt(SHUT_WR))
                while try next() != nil {}
                throw trouble ?? Trouble(lost: "pumpctl-record has ended")
            }
            written += max(0, count)
        }
    }

    /// Waits for the next answer. Returns nil if the program has ended successfully.
    ///
    /// - Throws: The problem that the program has reported, or `lost`, if the program has ended with a failure.
    public func next() throws(Trouble) -> Answer? {
        while answers.isEmpty {
            let count = Glibc.read(socket, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if let process { status = ProcessEnd.reap(process) }
                process = nil
                if status == 0 { return nil }
                throw trouble ?? Trouble(lost: "pumpctl-record ended with status \(status)")
            }
            framer.append(chunk.span.extracting(..<count)) { line, _ in
                let text = line.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                if let answer = Answer(line: text[...]) { answers.append(answer) }
            }
        }
        let answer = answers.popFirst()
        switch answer {
        case .failing(let trouble): self.trouble = trouble
        case .recovered, .committed: trouble = nil
        default: break
        }
        return answer
    }
}

extension Trouble {
    /// Creates the error for a program that ended early. Whether the program has done its work is unknown.
    fileprivate init(lost text: String) {
        self.init(code: "lost", text: text, hint: "check the stored data before you rely on it")
    }
}
