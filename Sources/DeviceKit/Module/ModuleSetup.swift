public import LineProtocol
internal import ModuleDialects
public import Transports

/// Reads the properties of a BLE module (an HM-10 or a clone) at its UART, and sets its name and its baud rate.
///
/// Every new setting is read back from the module before it is reported. If a pump is on the line instead of a module,
/// it receives nothing that could change its state, and the operation ends at the pump's first line.
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
    /// Opens the port to the module at the given baud rate; nil for the port's own rate.
    public typealias Opener = @Sendable (_ baudRate: Int?) async throws(LinkError) -> any Link

    /// An occurrence during the operation.
    public enum Report: Sendable, Hashable {
        /// The operation probes for a module at this baud rate; nil for the rate of the line.
        case looking(baudRate: Int?)
        /// The module was connected to a central, and has disconnected the central because of the probe.
        case disconnectedCentral
    }

    /// The names of the known dialects.
    public static var dialects: [String] { ModuleDialect.all.map(\.name) }

    /// The baud rates that a module may use, the most common ones first.
    private static let usualRates = [9600, 115_200, 57600, 38400, 19200, 4800, 2400, 1200, 230_400]
    /// The longest name in bytes that fits into an advertisement: 31 bytes without the name's length and type. The
    /// limit of a dialect that names none.
    private static let longestName = 29

    let dialect: ModuleDialect?
    let rates: [Int?]
    let clock: any Clock<Duration>
    let report: @Sendable (Report) -> Void
    let open: Opener

    /// Creates an operation on a module.
    ///
    /// - Parameters:
    ///   - dialect: The name of a dialect in ``dialects``; nil to detect it. An unknown name counts as nil.
    ///   - rates: The baud rates to try: see ``rates(of:)``.
    ///   - clock: The clock for all time-outs.
    ///   - report: Receives the reports.
    ///   - open: Opens the port to the module. Called for each rate that is tried, and again after a change of the
    ///     rate.
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

    /// Returns the baud rates to try at an endpoint: the rate that the endpoint of a serial port names, or else all
    /// rates that modules use. For an endpoint without a serial port, the only element is nil, which keeps the rate of
    /// the line.
    public static func rates(of endpoint: Endpoint) -> [Int?] {
        guard let serial = endpoint.serial else { return [nil] }
        if let named = serial.baudRate { return [named] }
        return usualRates
    }

    // MARK: Operations

    /// Reads the properties of the module.
    ///
    /// - Throws: `noAnswer`, `otherDevice`, `unknownModule`, `shared` or `link`.
    public func info() async throws(ModuleSetupError) -> ModuleInfo {
        try await withModule { module throws(ModuleSetupError) in try await module.info() }
    }

    /// Changes the name of the module, restarts the module, and reads the name back.
    ///
    /// - Parameter name: The new name, in printable ASCII.
    /// - Returns: The properties of the module after the change.
    /// - Throws: `invalidName`; `refused`; `notConfirmed` if reading back did not return the new name; the errors of
    ///   ``info()``.
    public func setName(_ name: String) async throws(ModuleSetupError) -> ModuleInfo {
        if let reason = Self.flaw(of: name, limit: dialect?.longestName ?? Self.longestName) {
            throw ModuleSetupError(.invalidName, .notSent, reason: reason)
        }
        return try await withModule { module throws(ModuleSetupError) in
            let (dialect, talk) = (module.dialect, module.conversation)
            // Check again: the dialect that was found may have a lower limit.
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

    /// Returns the flaw of a name, as a clause; nil if the name is valid.
    private static func flaw(of name: String, limit: Int) -> String? {
        if name.isEmpty { return "the name must not be empty" }
        guard name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            return "the name must be printable ASCII"
        }
        // `AT+NAME?` is the query for the name.
        if name == "?" || name.hasPrefix(" ") || name.hasSuffix(" ") {
            return "the name must not begin or end with a space, or be a question mark"
        }
        return name.utf8.count > limit ? "the name has \(name.utf8.count) bytes; the maximum is \(limit)" : nil
    }

    /// Changes the baud rate of the module's UART, and reads the setting back at the new rate.
    ///
    /// - Parameter rate: The new rate in baud.
    /// - Returns: The properties of the module after the change.
    /// - Throws: `needsSerialPort`; `unsupportedRate`; `refused`; `notConfirmed` if reading back did not return the new
    ///   rate; the errors of ``info()``.
    public func setBaudRate(_ rate: Int) async throws(ModuleSetupError) -> ModuleInfo {
        guard rates.allSatisfy({ $0 != nil }) else { throw ModuleSetupError(.needsSerialPort, .notSent) }
        let found = try await find()
        let dialect = found.dialect
        do throws(ModuleSetupError) {
            // A module at a rate without return could not be set back.
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

    /// Reads the new baud rate back at the new rate. If the module still answers at the old rate instead, restarts the
    /// module there once and tries again.
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

    /// Opens the port at a rate and waits for the module. Returns nil if the module does not answer.
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

    /// Performs a step after the change was sent. If the step fails, whether the module was changed is unknown.
    private func afterChange<Value>(
        _ body: () async throws(ModuleSetupError) -> Value
    ) async throws(ModuleSetupError) -> Value {
        do throws(ModuleSetupError) { return try await body() } catch { throw error.ofUnknownOutcome }
    }
}
