internal import DescriptorIO

/// A subscription of a handler to signals. Cancelling or releasing it ends the subscription.
public final class DBusSubscription: Sendable {
    private let core: ConnectionCore
    private let subscription: SignalRouter.Subscription

    init(_ core: ConnectionCore, _ subscription: SignalRouter.Subscription) {
        self.core = core
        self.subscription = subscription
    }

    deinit { cancel() }

    /// Ends the subscription: at once if called on the loop's thread, else soon after. Cancelling twice is allowed.
    public func cancel() {
        if core.loop.isCurrent {
            core.router.remove(subscription)
        } else {
            core.loop.execute { [core, subscription] in core.router.remove(subscription) }
        }
    }
}
