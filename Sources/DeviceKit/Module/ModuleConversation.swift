internal import LineProtocol
internal import ModuleDialects

/// The exchange of commands and answers over a module's UART, one at a time.
///
/// The device may be a pump instead of a module. Every command begins with `AT`, which is no pump command. Until the
/// device has answered as a module, each line is ended, so that a pump keeps no half-sent line. A pump answers such a
/// line with an error, and then nothing more is sent.
struct ModuleConversation {
    /// The longest wait for the beginning of an answer. A pump answers within 250 ms.
    static let patience = Duration.milliseconds(500)
    /// The silence that ends an answer. An adapter may hold bytes back for 16 ms, a server for longer.
    private static let quiet = Duration.milliseconds(150)
    /// The number of bytes at which an answer is taken as it is, so that a device that never falls silent can't hold up
    /// the exchange. A module's answers to the commands sent here are far shorter.
    private static let longestAnswer = 2048
    /// The number of probes for a module that is restarting. A probe without an answer takes ``patience``, or twice as
    /// long if the module's commands have no end. The documents of the HM-10 name 0.5 s for a restart; the rest is a
    /// reserve.
    private static let readinessTries = 10
    private static let lineEnd = "\r\n"

    let link: any Link
    private let reader: LinkReader

    init(_ link: any Link, clock: any Clock<Duration>) {
        self.link = link
        reader = LinkReader(link, clock: clock)
    }

    // MARK: Probing

    /// The result of a probe.
    enum Answerer {
        /// A module whose commands have this end.
        case module(commandEnd: String)
        /// A module that was connected to a central, and has disconnected it because of the probe.
        case disconnectedModule
        /// No module has answered, or none whose commands have the known end.
        case nobody
    }

    /// Probes for a module with `AT`, which changes no setting. If a genuine module is connected to a central, the
    /// probe makes the module disconnect the central.
    ///
    /// - Parameter commandEnd: The end of the module's commands; nil if unknown.
    func probe(commandEnd: String?) async throws(ModuleSetupError) -> Answerer {
        // A genuine module accepts `AT` without a line end; a clone and a pump wait for the line end. So send the line
        // end later, if nothing has answered. If the dialect is known to need none, an answer to the line end comes
        // from another module, and does not count.
        if commandEnd?.isEmpty ?? true {
            let answer = try await exchange(ModuleDialect.test)
            if let answerer = Self.answerer(answer, commandEnd: "") { return answerer }
            let ended = try await exchange(Self.lineEnd)
            return commandEnd == nil ? Self.answerer(ended, commandEnd: Self.lineEnd) ?? .nobody : .nobody
        }
        let answer = try await exchange(ModuleDialect.test + Self.lineEnd)
        return Self.answerer(answer, commandEnd: Self.lineEnd) ?? .nobody
    }

    /// Returns the sender of an answer to a probe; nil if the answer does not come from a module.
    private static func answerer(_ answer: [String], commandEnd: String) -> Answerer? {
        if answer.contains(where: { $0.hasSuffix(ModuleDialect.testAnswer) }) { return .module(commandEnd: commandEnd) }
        let lost = ModuleDialect.all.compactMap(\.notices?.lost)
        return answer.contains { line in lost.contains { line.contains($0) } } ? .disconnectedModule : nil
    }

    /// Determines the dialect of a module from its version.
    ///
    /// - Throws: `unknownModule` if the version belongs to no known dialect; the errors of ``exchange(_:)``.
    func dialect(commandEnd: String) async throws(ModuleSetupError) -> ModuleDialect {
        var said: String?
        for dialect in ModuleDialect.all where dialect.commandEnd == commandEnd {
            // All clones use the same query, so one answer is enough.
            if said == nil { said = try await value(of: dialect.version, dialect) }
            let version = said?.lowercased() ?? ""
            if dialect.versionMarks.contains(where: { version.contains($0) }) { return dialect }
        }
        throw ModuleSetupError(.unknownModule, .notSent, answer: said)
    }

    /// Waits until a module answers again after a restart.
    ///
    /// - Returns: Whether the module answers.
    func untilReady(_ dialect: ModuleDialect) async throws(ModuleSetupError) -> Bool {
        for _ in 0..<Self.readinessTries {
            if case .module = try await probe(commandEnd: dialect.commandEnd) { return true }
        }
        return false
    }

    // MARK: Values

    /// Sends a query and returns the value in the answer; nil if there is none. If there is none, the query is sent
    /// once more, because earlier bytes may have spoiled the first one.
    func value(of query: ModuleDialect.Query, _ dialect: ModuleDialect) async throws(ModuleSetupError) -> String? {
        for _ in 0..<2 {
            for line in try await exchange(query.command + dialect.commandEnd) {
                if let value = Self.value(line, query.answers, dialect) { return value }
            }
        }
        return nil
    }

    private static func value(_ line: String, _ beginnings: [String], _ dialect: ModuleDialect) -> String? {
        // Longest prefix first, because an empty prefix matches every line.
        for beginning in beginnings.sorted(by: { $0.count > $1.count }) where line.hasPrefix(beginning) {
            let isOther = beginning.isEmpty && (line == ModuleDialect.testAnswer || isRefusal(line))
            if !isOther { return String(line.dropFirst(beginning.count)) }
        }
        return nil
    }

    /// Whether a module's line refuses a command, as `ERROR` and `ERROR=102` do.
    static func isRefusal(_ line: String) -> Bool { line == "ERROR" || line.hasPrefix("ERROR=") }

    // MARK: Commands

    /// Sends a text unchanged, and collects the answer until silence. Returns the answer's lines without empty ones.
    ///
    /// - Throws: `otherDevice` if a line shows that the device is of a known family and no module; `link`. The outcome
    ///   of both is `notSent`, which the caller replaces if `text` changes a setting.
    func exchange(_ text: String) async throws(ModuleSetupError) -> [String] {
        // Bytes that arrived late are no answer to this text, but they may show that the device is a pump.
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

    /// Throws `otherDevice` if a line shows that the device is of a known family and no module. `OK` shows nothing: a
    /// pump and a module both send it.
    private static func check(_ bytes: [UInt8]) throws(ModuleSetupError) {
        for line in lines(of: bytes) where line != Array(ModuleDialect.testAnswer.utf8) {
            guard let family = Family.all.first(where: { $0.wire.recognizes(line) }) else { continue }
            throw ModuleSetupError(.otherDevice, .notSent, answer: line.printable(), family: family.name)
        }
    }
}
