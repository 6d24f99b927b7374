internal import DescriptorIO

/// Signals.
extension DBusConnection {
    /// The signals that fit a rule. When this returns the bus has taken the rule: what is sent from then on is in the
    /// sequence.
    ///
    /// Several may ask for the same signals; the bus is told once.
    ///
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``.
    public func signals(matching rule: DBusMatchRule) async throws(DBusError) -> DBusSignals {
        let buffer = ArrivalQueue<DBusSignal, DBusError>()
        let subscription = try await handleSignals(matching: rule) { message in
            if let signal = DBusSignal(message) { buffer.append(signal) }
        } onEnd: { error in
            buffer.end(error)
        }
        return DBusSignals(buffer, subscription)
    }

    /// Calls `handler` with each signal that fits a rule, on the loop's thread, in the order of all that arrives, as
    /// long as the subscription is there. When this returns the bus has taken the rule.
    ///
    /// - Parameters:
    ///   - handler: Gets the message as it lies in libdbus's memory; it must not wait.
    ///   - onEnd: Called when the connection ends: with the error where the bus went away, with nil where it was closed.
    /// - Throws: ``DBusError`` as ``call(_:timeout:)``.
    public func handleSignals(
        matching rule: DBusMatchRule, _ handler: @escaping @Sendable (DBusMessage) -> Void,
        onEnd: @escaping @Sendable (DBusError?) -> Void = { _ in }
    ) async throws(DBusError) -> DBusSubscription {
        try rule.check()
        let subscription = SignalRouter.Subscription(rule, handler: handler, onEnd: onEnd)
        let ready = OneShot<Void>()
        core.router.add(subscription, ready: ready)
        try await wait(for: ready) { core in
            guard !ready.isFinished else { return }
            core.router.remove(subscription)
            ready.finish(.failure(DBusError(.cancelled, activity: "asking for signals")))
        }
        return DBusSubscription(core, subscription)
    }
}
