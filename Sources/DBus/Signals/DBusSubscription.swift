internal import DescriptorIO

/// A handler's place among those who get signals, until it is cancelled or let go.
public final class DBusSubscription: Sendable {
    private let core: ConnectionCore
    private let subscription: SignalRouter.Subscription

    init(_ core: ConnectionCore, _ subscription: SignalRouter.Subscription) {
        self.core = core
        self.subscription = subscription
    }

    deinit { cancel() }

    /// Ends it; on the loop's thread at once. Cancelling twice is allowed.
    public func cancel() {
        if core.loop.isCurrent {
            core.router.remove(subscription)
        } else {
            core.loop.execute { [core, subscription] in core.router.remove(subscription) }
        }
    }
}
