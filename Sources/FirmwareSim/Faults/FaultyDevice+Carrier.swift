/// The effects of faults on the carrier: a pulled cable, a dropped radio link, an early notification.
extension FaultyDevice {
    public mutating func takeCarrierEvents() -> [CarrierEvent] {
        for event in device.takeCarrierEvents() { carrier.add(event.action, at: min(now, clock.outside(event.time))) }
        return carrier.takeEvents(until: now)
    }

    /// Pulls the cable, and plugs it in again at `end`.
    mutating func unplug(at instant: Duration, until end: Duration) {
        // Bytes that are still in the USB adapter are lost when its cable is pulled.
        pending.removeAll { $0.time > instant }
        carrier.add(.unplug, at: instant)
        carrier.add(.plugIn, at: end)
    }

    /// Whether a silence or a dropped link has lost the last BLE write, or a part of it. The server must not confirm a
    /// lost write.
    public var hasLostWrite: Bool { carrier.hasLostWrite }

    /// Returns whether a fault stops the input and output of the device at an instant.
    public func isSilent(at instant: Duration) -> Bool { max(now, instant) < silentUntil }

    /// Drops the radio link now.
    mutating func hangUp() { carrier.add(.hangUp, at: now) }

    /// Records that a central has subscribed, before the subscription is confirmed.
    package mutating func centralSubscribes(to output: UInt128) {
        if has(.notifyEarly), let bytes = carrier.lastNotified[output] {
            carrier.add(.notifyEarly(bytes, output: output), at: now)
        }
        carrier.noteListener(at: output)
        makeNoise(by: output)
    }
}
