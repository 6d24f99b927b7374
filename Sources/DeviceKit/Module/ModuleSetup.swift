public import LineProtocol
internal import ModuleDialects
public import Transports

/// Asks a BLE module at its UART what it is, and sets its name and its baud rate: an HM-10, or one of its clones.
///
/// Nothing is reported as set that was not read back from the module. Where a pump is on the line instead, it is sent nothing
/// that could change its state, and the first line that it says ends all.
///
/// ```swift
/// let endpoint = try Endpoint("/dev/ttyUSB0")
/// let setup = ModuleSetup(rates: ModuleSetup.rates(of: endpoint), clock: ContinuousClock()) { rate in
///     var place = endpoint
///     if let rate { place.serial?.baudRate = rate }
///     return try await LinkSchemes.families.open(place)
/// }
/// print(try await setup.info().name ?? "")
/// ```
public struct ModuleSetup: Sendable {
    /// Opens the port that leads to the module, at that baud rate; at its own where that is nil.
    public typealias Opener = @Sendable (_ baudRate: Int?) async throws(LinkError) -> any Link

    /// What comes to light meanwhile.
    public enum Report: Sendable, Hashable {
        /// A module is looked for, at that baud rate.
        case looking(baudRate: Int?)
        /// The module was connected to a central, and has disconnected it: so a genuine one takes the question whether it is
        /// there.
        case disconnectedCentral
    }

    /// The names of the dialects that are known.
    public static var dialects: [String] { ModuleDialect.all.map(\.name) }

    /// The baud rates that a module may be at, those first that are usual.
    private static let usualRates = [9600, 115_200, 57600, 38400, 19200, 4800, 2400, 1200, 230_400]
    /// The most bytes of a name that an advertisement has room for.
    private static let longestName = 29

    let dialect: ModuleDialect?
    let rates: [Int?]
    let clock: any Clock<Duration>
    let report: @Sendable (Report) -> Void
    let open: Opener

    /// - Parameters:
    ///   - dialect: One of ``dialects``; nil to find out. One that there is not counts as nil.
    ///   - rates: The baud rates to look for the module at, as ``rates(of:)`` has them.
    ///   - clock: Measures all times.
    ///   - report: Told what comes to light.
    public init(
        dialect: String? = nil, rates: [Int?], clock: any Clock<Duration>,
        report: @escaping @Sendable (Report) -> Void = { _ in }, open: @escaping Opener
    ) {
        self.dialect = dialect.flatMap(ModuleDialect.named)
        self.rates = rates
        self.clock = clock
        self.report = report
        self.open = open
    }

    /// The baud rates to look for a module at: the one that a serial port's endpoint names, else all that modules have. Where
    /// no serial port leads there, the one that the line has.
    public static func rates(of endpoint: Endpoint) -> [Int?] {
        guard let serial = endpoint.serial else { return [nil] }
        if let named = serial.baudRate { return [named] }
        return usualRates
    }

    // MARK: What it does

    /// Asks the module what it is.
    public func info() async throws(ModuleSetupError) -> ModuleInfo {
        try await withModule { module throws(ModuleSetupError) in try await module.info() }
    }

    /// Gives the module another name, restarts it, and reads the name back.
    ///
    /// - Parameter name: Of printable ASCII.
    public func setName(_ name: String) async throws(ModuleSetupError) -> ModuleInfo {
        if let reason = Self.flaw(of: name, limit: dialect?.longestName ?? Self.longestName) {
            throw ModuleSetupError(.invalidName, .notSent, reason: reason)
        }
        return try await withModule { module throws(ModuleSetupError) in
            let (dialect, talk) = (module.dialect, module.conversation)
            if let reason = Self.flaw(of: name, limit: dialect.longestName ?? Self.longestName) {
                throw ModuleSetupError(.invalidName, .notSent, reason: reason)
            }
            try await module.change(dialect.deviceName.set + name)
            return try await afterChange { () throws(ModuleSetupError) in
                try await module.reset()
                guard try await talk.untilReady(dialect) else { throw ModuleSetupError(.notConfirmed, .unknown) }
                let info = try await module.info()
                guard info.name == name else { throw ModuleSetupError(.notConfirmed, .unknown, answer: info.name) }
                return info
            }
        }
    }

    /// What is wrong with a name; nil for nothing.
    private static func flaw(of name: String, limit: Int) -> String? {
        if name.isEmpty { return "a name has one character or more" }
        guard name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            return "a name has letters, digits and signs of ASCII only"
        }
        // `AT+NAME?` is the question.
        if name == "?" || name.hasPrefix(" ") || name.hasSuffix(" ") {
            return "a name neither begins nor ends with a space, and is not a question mark"
        }
        return name.utf8.count > limit ? "the name has \(name.utf8.count) bytes, and the module takes \(limit)" : nil
    }

    /// Sets the baud rate of the module's UART, and reads it back at that rate.
    public func setBaudRate(_ rate: Int) async throws(ModuleSetupError) -> ModuleInfo {
        guard rates.allSatisfy({ $0 != nil }) else { throw ModuleSetupError(.needsSerialPort, .notSent) }
        let found = try await find()
        let dialect = found.dialect
        do throws(ModuleSetupError) {
            let possible = dialect.baudRates.map(\.rate).filter { !dialect.ratesWithoutReturn.contains($0) }
            guard possible.contains(rate), let code = dialect.code(of: rate) else {
                throw ModuleSetupError(.unsupportedRate, .notSent, rates: possible.sorted())
            }
            try await found.change(dialect.baud.set + code)
            if dialect.rateChange == .afterReset {
                try await afterChange { () throws(ModuleSetupError) in try await found.reset() }
            }
        } catch {
            await found.conversation.link.close()
            throw error
        }
        await found.conversation.link.close()
        return try await afterChange { () throws(ModuleSetupError) in
            try await confirm(rate, dialect, setAt: found.lineRate)
        }
    }

    /// Reads a new baud rate back at that rate. Where no module answers there, it may have to be restarted first.
    private func confirm(
        _ rate: Int, _ dialect: ModuleDialect, setAt oldRate: Int?
    ) async throws(ModuleSetupError) -> ModuleInfo {
        for attempt in 0..<2 {
            if let info = try await info(at: rate, dialect) {
                guard info.baudRate == rate else {
                    throw ModuleSetupError(.notConfirmed, .unknown, answer: info.baudRate.map { "\($0) baud" })
                }
                return info
            }
            guard attempt == 0, let module = try await module(at: oldRate, dialect) else { break }
            try await closing(module) { () throws(ModuleSetupError) in try await module.reset() }
        }
        throw ModuleSetupError(.notConfirmed, .unknown)
    }

    private func info(at rate: Int, _ dialect: ModuleDialect) async throws(ModuleSetupError) -> ModuleInfo? {
        guard let module = try await module(at: rate, dialect) else { return nil }
        return try await closing(module) { () throws(ModuleSetupError) in try await module.info() }
    }

    /// The module at a rate; nil where none answers.
    private func module(at rate: Int?, _ dialect: ModuleDialect) async throws(ModuleSetupError) -> FoundModule? {
        let talk = ModuleConversation(try await opened(rate), clock: clock)
        let module = FoundModule(conversation: talk, dialect: dialect, lineRate: rate)
        do throws(ModuleSetupError) {
            if try await talk.untilReady(dialect) { return module }
        } catch {
            await talk.link.close()
            throw error
        }
        await talk.link.close()
        return nil
    }

    /// Does something after a change was sent: where it fails, the module may be changed.
    private func afterChange<Value>(
        _ body: () async throws(ModuleSetupError) -> Value
    ) async throws(ModuleSetupError) -> Value {
        do throws(ModuleSetupError) { return try await body() } catch { throw error.ofUnknownOutcome }
    }
}
