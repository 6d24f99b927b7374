import Glibc

/// The state and resources of a ``SerialPortMonitor``.
struct PortWatch: ~Copyable {
    /// The next action of the monitor's iterator.
    enum Step {
        /// Return this event.
        case event(SerialPortEvent)
        /// Await this task, call ``PortWatch/endWait()``, then ask for the next step.
        case wait(Task<Void, Never>)
        /// End the sequence.
        case ended
    }

    /// The connection to udev; nil once released.
    private var source: (udev: Udev, events: UdevEvents)?
    private var isClosed = false
    /// The present ports. Turns enumerations and udev events, which overlap, into one event for each change.
    private var ledger = PortLedger()
    /// The events not yet reported, oldest first.
    private var pending: ArraySlice<SerialPortEvent> = []
    /// Whether the ports must be enumerated: at the beginning, and after events were lost.
    private var isBehind = true
    /// The task that waits on udev's descriptor. The descriptor must stay open until the task ends.
    private var wait: Task<Void, Never>?

    init() throws(SerialError) {
        let udev = try Udev()
        source = (udev, try UdevEvents(udev))
    }

    /// Returns the present ports, and drops the events that led to them.
    mutating func takePresent() throws(SerialError) -> [SerialPortInfo] {
        guard !isClosed else { throw SerialError(.closed, activity: "watching", path: "serial ports") }
        try update()
        pending = []
        return ledger.present
    }

    /// Determines the next action.
    ///
    /// - Parameter beginWait: Starts a task that ends when udev's descriptor, its argument, is readable, or when the
    ///   task is cancelled.
    mutating func step(beginWait: (CInt) -> Task<Void, Never>) throws(SerialError) -> Step {
        if pending.isEmpty { try update() }
        if let event = pending.popFirst() { return .event(event) }
        guard !isClosed, let source else { return .ended }
        let wait = beginWait(source.events.descriptor)
        self.wait = wait
        return .wait(wait)
    }

    /// Notes that the task of a wait has ended. Releases the connection to udev if the monitor was closed during the
    /// wait.
    mutating func endWait() {
        wait = nil
        if isClosed { source = nil }
    }

    /// Ends the watch. A connection to udev on which a task waits is released by ``endWait()``, because the descriptor
    /// must stay open until then.
    mutating func close() {
        isClosed = true
        pending = []
        if let wait { wait.cancel() } else { source = nil }
    }

    /// Appends to `pending` all changes since the last call: enumerates the ports if need be, then reads the queued
    /// events.
    private mutating func update() throws(SerialError) {
        guard !isClosed, let source else { return }
        repeat {
            if isBehind {
                // The queued events are older than the enumeration that follows.
                source.events.discardAll()
                pending += ledger.replaceAll(try Self.ports(of: source.udev))
                isBehind = false
            }
            while let event = next(of: source.events) { pending.append(contentsOf: event) }
        } while isBehind
    }

    /// Processes the next udev event. Returns nil if there is none, or if events were lost; an empty array if the event
    /// changes nothing, such as an update of a known port.
    private mutating func next(of events: UdevEvents) -> [SerialPortEvent]? {
        switch events.receive() {
        case .nothing: return nil
        case .overrun:
            isBehind = true
            return nil
        case .device(let device):
            if device.action == "remove" { return ledger.remove(at: device.systemPath).map { [$0] } ?? [] }
            guard device.hasHardware, let port = device.port else { return [] }
            return ledger.add(port, at: device.systemPath).map { [$0] } ?? []
        }
    }

    /// Returns the present ports whose udev rules have run, or all ports if udev does not run, by path in sysfs.
    private static func ports(of udev: Udev) throws(SerialError) -> [String: SerialPortInfo] {
        var ports: [String: SerialPortInfo] = [:]
        let needsRules = SerialPortDiscovery.isUdevRunning
        try udev.forEachPort { device in
            // Skip a port whose rules have not run yet: it has no links, and only root may open it. Its event will
            // follow.
            guard device.isInitialized || !needsRules, let port = device.port else { return }
            ports[device.systemPath] = port
        }
        return ports
    }
}
