internal import CDBus

/// Delivers signals to their subscribers, and registers the match rules with the bus.
final class SignalRouter: @unchecked Sendable {
    // @unchecked: all accesses are on the thread of the connection's loop, as for the core that owns this object.

    /// A handler with its rule.
    final class Subscription: @unchecked Sendable {
        // @unchecked: all accesses are on the loop's thread, as for its router.

        let rule: DBusMatchRule
        /// The rule in the syntax of `AddMatch`. Subscriptions with equal texts share one rule on the bus.
        let text: String
        let followedName: String?
        let handler: @Sendable (DBusMessage) -> Void
        let onEnd: @Sendable (DBusError?) -> Void
        /// Whether the bus has accepted the rule.
        var isActive = false

        init(
            _ rule: DBusMatchRule, handler: @escaping @Sendable (DBusMessage) -> Void,
            onEnd: @escaping @Sendable (DBusError?) -> Void
        ) {
            self.rule = rule
            text = rule.text
            followedName = rule.followedName
            self.handler = handler
            self.onEnd = onEnd
        }
    }

    /// A match rule that the bus has accepted, or has not answered yet.
    private final class BusRule: @unchecked Sendable {
        // @unchecked: all accesses are on the loop's thread, as for its router.

        /// The number of subscriptions and followed names that need the rule.
        var users = 1
        /// The callbacks that wait for the bus's reply; nil after the reply.
        var waiting: [@Sendable (Result<Void, DBusError>) -> Void]? = []
    }

    /// A well-known name that subscriptions have as their sender. A signal contains only the unique name of its sender,
    /// so the router must know the owner of the well-known name.
    private struct FollowedName {
        /// The number of subscriptions with this sender.
        var users = 1
        /// The unique name of the owner; nil if there is none, or if it is not known yet.
        var owner: String?
        /// The reason that the owner is unknown.
        var error: DBusError?
    }

    private unowned let core: ConnectionCore
    private var subscriptions: [Subscription] = []
    private var rules: [String: BusRule] = [:]
    private var names: [String: FollowedName] = [:]

    init(core: ConnectionCore) { self.core = core }

    // MARK: Subscribing

    /// Registers the rule of `subscription` with the bus. `ready` finishes when the bus has replied.
    func add(_ subscription: Subscription, ready: OneShot<Void>) {
        guard core.isOpen else { return ready.finish(.failure(core.endError(activity: "subscribing to signals"))) }
        subscriptions.append(subscription)
        if let name = subscription.followedName { follow(name) }
        // The bus replies in the order of the calls: its reply to this rule comes after its reply with the owner.
        useRule(subscription.text) { [weak self] result in
            self?.finishAdding(subscription, result, ready)
        }
    }

    /// Handles the bus's reply for a new subscription. Does nothing if the subscription was removed before the reply.
    private func finishAdding(_ subscription: Subscription, _ result: Result<Void, DBusError>, _ ready: OneShot<Void>) {
        guard subscriptions.contains(where: { $0 === subscription }) else { return }
        let error: DBusError? =
            switch result {
            case .failure(let error): error
            case .success: subscription.followedName.flatMap { names[$0]?.error }
            }
        if let error {
            remove(subscription)
            ready.finish(.failure(error))
        } else {
            subscription.isActive = true
            ready.finish(.success(()))
        }
    }

    /// Ends a subscription. Removing an ended subscription again is allowed.
    func remove(_ subscription: Subscription) {
        guard let index = subscriptions.firstIndex(where: { $0 === subscription }) else { return }
        subscriptions.remove(at: index)
        subscription.isActive = false
        dropRule(subscription.text)
        if let name = subscription.followedName { unfollow(name) }
    }

    /// Adds a subscription with this sender. The first one subscribes to changes of the owner, then asks for the
    /// present owner, so that no change in between is missed.
    private func follow(_ name: String) {
        if names[name] != nil {
            names[name]?.users += 1
            return
        }
        names[name] = FollowedName()
        useRule(DBusMatchRule.nameOwnerChanged(name).text) { [weak self] result in
            if case .failure(let error) = result { self?.names[name]?.error = error }
        }
        core.callBus("GetNameOwner", [.string(name)]) { [weak self] result in
            switch result {
            case .success(let reply): self?.names[name]?.owner = reply.first?.string
            case .failure(let error) where error.name == .nameHasNoOwner: break
            case .failure(let error): self?.names[name]?.error = error
            }
        }
    }

    private func unfollow(_ name: String) {
        guard let users = names[name]?.users else { return }
        if users > 1 {
            names[name]?.users = users - 1
        } else {
            names[name] = nil
            dropRule(DBusMatchRule.nameOwnerChanged(name).text)
        }
    }

    // MARK: Rules on the bus

    /// Adds a user of a match rule, and registers the rule with the bus if it is the first user. `ready` gets the bus's
    /// reply, at once if the rule is registered already.
    private func useRule(_ text: String, _ ready: @escaping @Sendable (Result<Void, DBusError>) -> Void) {
        if let rule = rules[text] {
            rule.users += 1
            if rule.waiting == nil { ready(.success(())) } else { rule.waiting?.append(ready) }
            return
        }
        let rule = BusRule()
        rule.waiting = [ready]
        rules[text] = rule
        core.callBus("AddMatch", [.string(text)]) { [weak self] result in
            guard let self else { return }
            let waiting = rule.waiting ?? []
            rule.waiting = nil
            // A rule that the bus has refused must not be removed from the bus later.
            if case .failure = result, rules[text] === rule { rules[text] = nil }
            for ready in waiting { ready(result.map { _ in () }) }
        }
    }

    /// Removes a user of a match rule, and removes the rule from the bus after its last user. Does nothing for a rule
    /// that the bus has refused.
    private func dropRule(_ text: String) {
        guard let rule = rules[text] else { return }
        rule.users -= 1
        guard rule.users == 0 else { return }
        rules[text] = nil
        if core.isOpen { core.callBus("RemoveMatch", [.string(text)]) { _ in } }
    }

    // MARK: Delivering

    func deliver(_ message: DBusMessage) {
        if !names.isEmpty { noteOwner(message) }
        // The loop iterates over a copy: handlers may add and remove subscriptions.
        for subscription in subscriptions where subscription.isActive {
            let owner = subscription.followedName.flatMap { names[$0]?.owner }
            if subscription.rule.fits(message, owner: owner) { subscription.handler(message) }
        }
    }

    /// Updates the owner of a followed name if the message is the bus's signal of a change.
    private func noteOwner(_ message: DBusMessage) {
        guard message.isFrom(BusName.bus, "NameOwnerChanged"),
            DBusMessage.isEqual(message.header.sender, BusName.bus),
            var argument = message.cursor, let name = argument.string, names[name] != nil,
            argument.next(), argument.next(), let owner = argument.string
        else { return }
        names[name]?.owner = owner.isEmpty ? nil : owner
    }

    /// Ends all subscriptions at the end of the connection, and reports its error to them.
    func end(_ error: DBusError?) {
        let ended = subscriptions
        subscriptions = []
        rules = [:]
        names = [:]
        for subscription in ended {
            subscription.isActive = false
            subscription.onEnd(error)
        }
    }
}
