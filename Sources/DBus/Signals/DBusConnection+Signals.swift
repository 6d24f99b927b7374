internal import DescriptorIO

/// Subscriptions to signals.
extension DBusConnection {
    /// Subscribes to the signals that match a rule.
    ///
    /// Returns when the bus has accepted the rule: the sequence contains every matching signal that is sent after the
    /// acceptance. Equal rules of several subscribers are registered with the bus once.
    ///
    /// - Parameter rule: The rule.
    /// - Returns: The signals, in the order of their arrival.
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does.
    public func signals(matching rule: DBusMatchRule) async throws(DBusError) -> DBusSignals {
        let buffer = ArrivalQueue<DBusSignal, DBusError>()
        let subscription = try await handleSignals(matching: rule) { message in
            if let signal = DBusSignal(message) { buffer.append(signal) }
        } onEnd: { error in
            buffer.end(error)
        }
        return DBusSignals(buffer, subscription)
    }

    /// Calls a handler with each signal that matches a rule, until the subscription is cancelled or released.
    ///
    /// Returns when the bus has accepted the rule. The handler is called on the loop's thread, in the order in which
    /// all messages arrive.
    ///
    /// - Parameters:
    ///   - rule: The rule.
    ///   - handler: Gets the message in libdbus's memory. It must not block.
    ///   - onEnd: Called if the connection ends before the subscription: with the error if the bus went away, with nil
    ///     if this program closed the connection.
    /// - Returns: The subscription, which the caller must keep.
    /// - Throws: ``DBusError``, as ``call(_:timeout:)`` does.
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
            ready.finish(.failure(DBusError(.cancelled, activity: "subscribing to signals")))
        }
        return DBusSubscription(core, subscription)
    }
}
