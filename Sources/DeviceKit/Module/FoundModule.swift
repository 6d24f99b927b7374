internal import ModuleDialects

/// A module that has answered a probe.
struct FoundModule {
    let conversation: ModuleConversation
    let dialect: ModuleDialect
    /// The baud rate at which the module answers; nil if the port was opened at its own rate.
    let lineRate: Int?

    /// Reads the properties of the module, one query after the other.
    func info() async throws(ModuleSetupError) -> ModuleInfo {
        let role = try await value(of: dialect.role)
        return ModuleInfo(
            dialect: dialect.name, title: dialect.title, version: try await value(of: dialect.version),
            name: try await value(of: dialect.deviceName.query),
            baudRate: try await value(of: dialect.baud.query).flatMap(dialect.rate(of:)), lineRate: lineRate,
            role: role == "0" ? .peripheral : role == "1" ? .central : nil,
            address: try await value(of: dialect.address).map(Self.address))
    }

    private func value(of query: ModuleDialect.Query) async throws(ModuleSetupError) -> String? {
        try await conversation.value(of: query, dialect)
    }

    /// Sends a command that changes a setting. A missing answer is no error: reading the setting back shows the result.
    ///
    /// - Throws: `refused` if the module refuses the command; the errors of ``ModuleConversation/exchange(_:)``, with
    ///   the outcome `unknown`.
    func change(_ command: String) async throws(ModuleSetupError) {
        let answer: [String]
        do throws(ModuleSetupError) { answer = try await conversation.exchange(command + dialect.commandEnd) } catch {
            throw error.ofUnknownOutcome
        }
        guard let refusal = answer.first(where: ModuleConversation.isRefusal) else { return }
        throw ModuleSetupError(.refused, .nothingChanged, answer: refusal)
    }

    /// Restarts the module.
    func reset() async throws(ModuleSetupError) {
        _ = try await conversation.exchange(dialect.reset.command + dialect.commandEnd)
    }

    /// Formats an address with colons. Text that is no address stays unchanged.
    private static func address(_ text: String) -> String {
        let digits = text.uppercased().filter(\.isHexDigit)
        guard digits.count == 12 else { return text }
        return stride(from: 0, to: 12, by: 2).map { start in
            String(digits.dropFirst(start).prefix(2))
        }.joined(separator: ":")
    }
}
