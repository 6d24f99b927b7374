internal import LineProtocol
internal import ModuleDialects

/// Commands and answers at the UART of a module, one after another.
///
/// A pump may be at the other end. All that is said to a module begins with `AT`, which no pump takes, and a line that was
/// begun is ended: a pump answers that with an error, and then nothing more is sent.
struct ModuleConversation {
    /// How long the beginning of an answer is waited for. A pump answers within 250 ms.
    static let patience = Duration.milliseconds(500)
    /// What a silence is that ends an answer: an adapter may hold bytes back for 16 ms, a server for longer.
    private static let quiet = Duration.milliseconds(150)
    /// The most bytes of an answer.
    private static let longestAnswer = 2048
    /// How often a module that restarts is asked whether it is there.
    private static let readinessTries = 10
    private static let lineEnd = "\r\n"

    let link: any Link
    private let reader: LinkReader

    init(_ link: any Link, clock: any Clock<Duration>) {
        self.link = link
        reader = LinkReader(link, clock: clock)
    }

    // MARK: Who is there

    /// Who has answered.
    enum Answerer {
        /// A module that takes commands with this end.
        case module(commandEnd: String)
        /// A module that was connected to a central, and is not any more.
        case disconnectedModule
        /// Nobody.
        case nobody
    }

    /// Finds out who is there, by a command that changes nothing.
    ///
    /// - Parameter commandEnd: How the module's commands end; nil where that is to be found out.
    func probe(commandEnd: String?) async throws(ModuleSetupError) -> Answerer {
        // A genuine module takes `AT` without an end; a clone, and a pump, wait for it.
        if commandEnd?.isEmpty ?? true {
            let answer = try await exchange(ModuleDialect.test)
            if let answerer = Self.answerer(answer, commandEnd: "") { return answerer }
            let ended = try await exchange(Self.lineEnd)
            return commandEnd == nil ? Self.answerer(ended, commandEnd: Self.lineEnd) ?? .nobody : .nobody
        }
        let answer = try await exchange(ModuleDialect.test + Self.lineEnd)
        return Self.answerer(answer, commandEnd: Self.lineEnd) ?? .nobody
    }

    private static func answerer(_ answer: [String], commandEnd: String) -> Answerer? {
        if answer.contains(where: { $0.hasSuffix(ModuleDialect.testAnswer) }) { return .module(commandEnd: commandEnd) }
        let lost = ModuleDialect.all.compactMap(\.notices?.lost)
        return answer.contains { line in lost.contains { line.contains($0) } } ? .disconnectedModule : nil
    }

    /// The dialect of a module, by its version.
    ///
    /// - Throws: `unknownModule` where it is none that is known.
    func dialect(commandEnd: String) async throws(ModuleSetupError) -> ModuleDialect {
        var said: String?
        for dialect in ModuleDialect.all where dialect.commandEnd == commandEnd {
            // Clones ask for it by the same command.
            if said == nil { said = try await value(of: dialect.version, dialect) }
            let version = said?.lowercased() ?? ""
            if dialect.versionMarks.contains(where: { version.contains($0) }) { return dialect }
        }
        throw ModuleSetupError(.unknownModule, .notSent, answer: said)
    }

    /// Waits until a module answers, as one does again that restarts.
    ///
    /// - Returns: Whether it does.
    func untilReady(_ dialect: ModuleDialect) async throws(ModuleSetupError) -> Bool {
        for _ in 0..<Self.readinessTries {
            if case .module = try await probe(commandEnd: dialect.commandEnd) { return true }
        }
        return false
    }

    // MARK: Values

    /// What a query is answered; nil for nothing. It is asked again once, as what was said before may have spoiled it.
    func value(of query: ModuleDialect.Query, _ dialect: ModuleDialect) async throws(ModuleSetupError) -> String? {
        for _ in 0..<2 {
            for line in try await exchange(query.command + dialect.commandEnd) {
                if let value = Self.value(line, query.answers, dialect) { return value }
            }
        }
        return nil
    }

    private static func value(_ line: String, _ beginnings: [String], _ dialect: ModuleDialect) -> String? {
        // The longest first: one that is empty fits any line.
        for beginning in beginnings.sorted(by: { $0.count > $1.count }) where line.hasPrefix(beginning) {
            let isOther = beginning.isEmpty && (line == ModuleDialect.testAnswer || isRefusal(line))
            if !isOther { return String(line.dropFirst(beginning.count)) }
        }
        return nil
    }

    /// Whether a line of a module says that it does not take a command, as `ERROR` and `ERROR=102`.
    static func isRefusal(_ line: String) -> Bool { line == "ERROR" || line.hasPrefix("ERROR=") }

    // MARK: Commands

    /// Sends a text as it is, and hears what is said until there is silence: the lines, without empty ones.
    ///
    /// - Throws: `otherDevice` where what is said is of a device that is known, and no module says so.
    func exchange(_ text: String) async throws(ModuleSetupError) -> [String] {
        // What came too late answers nothing; a pump may have said it all the same.
        try Self.check(try await linked { () throws(LinkError) in try await receiveLate() })
        let answer = try await linked { () throws(LinkError) in try await talk(text) }
        try Self.check(answer)
        return Self.lines(of: answer).map { $0.printable() }
    }

    private func linked(
        _ body: () async throws(LinkError) -> [UInt8]
    ) async throws(ModuleSetupError) -> [UInt8] {
        do throws(LinkError) { return try await body() } catch {
            throw ModuleSetupError(.link, .notSent, link: error)
        }
    }

    private func receiveLate() async throws(LinkError) -> [UInt8] {
        var late: [UInt8] = []
        while late.count < Self.longestAnswer {
            let more = try await link.receiveAvailable()
            if more.isEmpty { break }
            late += more
        }
        return late
    }

    private func talk(_ text: String) async throws(LinkError) -> [UInt8] {
        try await link.send(Array(text.utf8))
        var answer: [UInt8] = []
        while answer.count < Self.longestAnswer,
            let more = try await reader.next(within: answer.isEmpty ? Self.patience : Self.quiet)
        {
            answer += more
        }
        return answer
    }

    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
        bytes.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }.map(Array.init)
    }

    /// Refuses what a device has said that is no module.
    private static func check(_ bytes: [UInt8]) throws(ModuleSetupError) {
        for line in lines(of: bytes) where line != Array(ModuleDialect.testAnswer.utf8) {
            guard let family = Family.all.first(where: { $0.wire.recognizes(line) }) else { continue }
            throw ModuleSetupError(.otherDevice, .notSent, answer: line.printable(), family: family.name)
        }
    }
}
