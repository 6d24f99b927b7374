import FoundationEssentials
import Glibc
import LineProtocol
import Synchronization

/// Where a command's results go: text for people or JSON for programs on standard output, the rest on standard error.
struct Output: Sendable {
    let isJSON: Bool
    private let results = ResultStream()

    /// For text or JSON, on standard output.
    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Why standard output took no more, as an errno: EPIPE where its reader has gone. Nil as long as all was written.
    var failure: Int32? { results.failure }

    /// Calls `body` once standard output takes no more; at once where that is so. In place of what was to be called before.
    func onFailure(_ body: @escaping @Sendable () -> Void) { results.onFailure(body) }

    /// Whether standard output may be coloured: a terminal that has colours, and no NO_COLOR.
    var isColoured: Bool { isatty(STDOUT_FILENO) == 1 && Self.mayColour && !isJSON }

    /// Whether a terminal may be coloured: it has colours, and NO_COLOR (no-color.org) is not set or empty.
    static var mayColour: Bool { mayColour { name in getenv(name).map { String(cString: $0) } } }

    /// - Parameter variable: Looks up a variable of the environment.
    static func mayColour(_ variable: (_ name: String) -> String?) -> Bool {
        (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
    }

    /// Prints `text`, or `value` as one JSON object on a line of its own.
    func result(_ text: @autoclosure () -> String, _ value: @autoclosure () -> some Encodable) {
        line(isJSON ? Self.json(value()) : text())
    }

    /// Prints what a command has done, as a result. Where standard output does not take it, it is said with that failure.
    func outcome(_ text: String, _ value: @autoclosure () -> some Encodable) {
        results.setOutcome(text)
        result(text, value())
    }

    /// What the command has done, as it was to be printed last.
    var lastOutcome: String? { results.outcome }

    /// Prints a line of text, where people read.
    func text(_ text: @autoclosure () -> String) {
        if !isJSON { line(text()) }
    }

    /// Writes to the terminal what is not a line of its own.
    func draw(_ text: String) { results.write(text) }

    /// Prints `value` as one JSON object on a line of its own, where programs read.
    func record(_ value: @autoclosure () -> some Encodable) {
        if isJSON { line(Self.json(value())) }
    }

    /// Prints a note on standard error.
    func note(_ text: String) { Self.tell(text + "\n") }

    /// Prints a note on standard error, and what to do about it.
    func note(_ text: String, hint: String?) { note(text + (hint.map { "\n  hint: \($0)" } ?? "")) }

    /// Shows on the terminal how far something is, in place of what was shown so before.
    func progress(_ text: String) { Self.tell("\r\u{1B}[K" + text) }

    /// Rings the bell of the terminal that standard error is; elsewhere nothing.
    func ringBell() { if isatty(STDERR_FILENO) == 1 { Self.tell("\u{07}") } }

    /// Tells of a failure: on standard error, and to programs as an object too.
    func report(_ failure: Failure) {
        // They may hold what devices are called, or what they said.
        note("pumpctl: \(failure.message.printable())" + (failure.hint.map { "\n  hint: \($0.printable())" } ?? ""))
        record(of: failure)
    }

    /// Tells programs of a failure.
    func record(of failure: Failure) { record(FailureRecord(failure)) }

    private func line(_ text: String) { results.write(text + "\n") }

    /// Writes to standard error. Where that fails, nobody is left to be told.
    private static func tell(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    /// Writes at once and whole, so that a program at the other end of a pipe sees each line when it is said.
    ///
    /// - Returns: The errno of a write that failed; nil where all was written.
    fileprivate static func write(_ text: String, to descriptor: CInt) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 && errno == EAGAIN {
                    var writable = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
                    poll(&writable, 1, -1)
                } else if count < 0 && errno != EINTR {
                    return errno
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
            }
            return nil
        }
    }

    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers that are none are left out by the records themselves.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return escaped(String(decoding: data, as: UTF8.self))
    }

    /// JSON may hold what a terminal acts on, beyond the control characters of ASCII.
    private static func escaped(_ json: String) -> String {
        guard json.utf8.contains(where: { $0 >= 0x7F }) else { return json }
        var text = ""
        for scalar in json.unicodeScalars {
            guard !scalar.isPrintable else {
                text.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return text
    }
}

/// Standard output, up to the first write that fails: what follows would be results with a gap.
private final class ResultStream: Sendable {
    private struct State {
        var failure: Int32?
        var outcome: String?
        var onFailure: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var failure: Int32? { state.withLock { $0.failure } }
    var outcome: String? { state.withLock { $0.outcome } }

    func setOutcome(_ text: String) { state.withLock { $0.outcome = text } }

    func write(_ text: String) {
        guard failure == nil, let errno = Output.write(text, to: STDOUT_FILENO) else { return }
        let body = state.withLock { state in
            state.failure = state.failure ?? errno
            defer { state.onFailure = nil }
            return state.onFailure
        }
        body?()
    }

    func onFailure(_ body: @escaping @Sendable () -> Void) {
        let hasFailed = state.withLock { state in
            state.onFailure = state.failure == nil ? body : nil
            return state.failure != nil
        }
        if hasFailed { body() }
    }
}

/// A failure as programs are told of it.
private struct FailureRecord: Encodable {
    var ok = false
    var error: String
    var exitCode: Int32
    var message: String
    var hint: String?
    var outcome: String?
    var deviceCode: String?

    enum CodingKeys: String, CodingKey {
        case ok, error, message, hint, outcome
        case exitCode = "exit_code"
        case deviceCode = "device_code"
    }

    init(_ failure: Failure) {
        error = failure.code
        exitCode = failure.status.rawValue
        message = failure.message
        hint = failure.hint
        outcome = failure.outcome
        deviceCode = failure.deviceCode
    }
}
