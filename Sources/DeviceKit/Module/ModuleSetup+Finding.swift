internal import LineProtocol
internal import ModuleDialects

extension ModuleSetup {
    /// The number of probes at each baud rate: the first may be spoiled by earlier bytes, or used up by disconnecting a
    /// central.
    private static let tries = 2
    /// The time for which probes begin if opening may have reset the board: the longest time that a board needs to
    /// start.
    private static let startTime = Duration.seconds(8)

    /// Finds the module, calls `body`, and closes the link to the module.
    func withModule<Value>(
        _ body: (FoundModule) async throws(ModuleSetupError) -> Value
    ) async throws(ModuleSetupError) -> Value {
        let module = try await find()
        return try await closing(module) { () throws(ModuleSetupError) in try await body(module) }
    }

    /// Calls `body`, then closes the link to `module`, also if `body` throws.
    func closing<Value>(
        _ module: FoundModule, _ body: () async throws(ModuleSetupError) -> Value
    ) async throws(ModuleSetupError) -> Value {
        let result: Result<Value, ModuleSetupError>
        do throws(ModuleSetupError) { result = .success(try await body()) } catch { result = .failure(error) }
        await module.conversation.link.close()
        return try result.get()
    }

    /// Opens the port at a rate; nil for the port's own rate.
    ///
    /// - Throws: `link`; `shared` if the link leads through a daemon.
    func opened(_ rate: Int?) async throws(ModuleSetupError) -> any Link {
        let link: any Link
        do throws(LinkError) { link = try await open(rate) } catch {
            throw ModuleSetupError(.link, .notSent, link: error)
        }
        guard link.sharedAddress == nil else {
            await link.close()
            throw ModuleSetupError(.shared, .notSent)
        }
        return link
    }

    /// Probes for a module at each of the ``rates``, until one answers. The caller closes the link of the module.
    ///
    /// - Throws: `noAnswer`; the errors of ``ModuleConversation/dialect(commandEnd:)`` and ``opened(_:)``.
    func find() async throws(ModuleSetupError) -> FoundModule {
        for rate in rates {
            report(.looking(baudRate: rate))
            let link: any Link
            do throws(ModuleSetupError) { link = try await opened(rate) } catch {
                // An adapter may not support every rate. A rate that the user has named must be supported.
                if error.link?.code == .unsupported, rates.count > 1 { continue }
                throw error
            }
            do throws(ModuleSetupError) {
                if let module = try await find(over: link, rate) { return module }
            } catch {
                await link.close()
                throw error
            }
            await link.close()
        }
        throw ModuleSetupError(.noAnswer, .notSent, rates: rates.compactMap { $0 })
    }

    private func find(over link: any Link, _ rate: Int?) async throws(ModuleSetupError) -> FoundModule? {
        let talk = ModuleConversation(link, clock: clock)
        let watch = SessionClock(clock)
        var count = 0
        while count < Self.tries || link.mayHaveReset && watch.elapsed() < Self.startTime {
            count += 1
            switch try await talk.probe(commandEnd: dialect?.commandEnd) {
            case .module(let commandEnd):
                var found = dialect
                if found == nil { found = try await talk.dialect(commandEnd: commandEnd) }
                return found.map { FoundModule(conversation: talk, dialect: $0, lineRate: rate) }
            case .disconnectedModule: report(.disconnectedCentral)
            case .nobody: break
            }
        }
        return nil
    }
}
