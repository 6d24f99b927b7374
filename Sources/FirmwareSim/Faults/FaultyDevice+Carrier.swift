extension FaultyDevice {
    public mutating func takeCarrierEvents() -> [CarrierEvent] {
        for event in device.takeCarrierEvents() { carrier.add(event.action, at: min(now, clock.outside(event.time))) }
        return carrier.takeEvents(until: now)
    }

    mutating func unplug(at instant: Duration, until end: Duration) {
        // What is in the adapter is lost with it.
        pending.removeAll { $0.time > instant }
        carrier.add(.unplug, at: instant)
        carrier.add(.plugIn, at: end)
    }

    /// Whether not all of the last write over BLE arrived, which who wrote is then not told.
    public var hasLostWrite: Bool { carrier.hasLostWrite }

    /// Whether a fault has the device neither hear nor say anything at an instant.
    public func isSilent(at instant: Duration) -> Bool { max(now, instant) < silentUntil }

    mutating func hangUp() { carrier.add(.hangUp, at: now) }

    /// A central has subscribed, and is yet to be told so.
    package mutating func centralSubscribes(to output: UInt128) {
        if has(.notifyEarly), let bytes = carrier.lastNotified[output] {
            carrier.add(.notifyEarly(bytes, output: output), at: now)
        }
        carrier.noteListener(at: output)
        makeNoise(by: output)
    }
}
