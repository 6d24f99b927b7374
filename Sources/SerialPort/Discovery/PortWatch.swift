import Glibc

/// What a ``SerialPortMonitor`` knows and holds.
struct PortWatch: ~Copyable {
    /// What the monitor's iterator does next.
    enum Step {
        case event(SerialPortEvent)
        case wait(Task<Void, Never>)
        case ended
    }

    /// udev, until it is given back.
    private var source: (udev: Udev, events: UdevEvents)?
    private var isClosed = false
    private var ledger = PortLedger()
    /// What is yet to be reported, the next first.
    private var pending: ArraySlice<SerialPortEvent> = []
    /// Whether the ports are to be looked at: at the beginning, and after events were lost.
    private var isBehind = true
    /// What waits on udev's descriptor, which may not be closed meanwhile.
    private var wait: Task<Void, Never>?

    init() throws(SerialError) {
        let udev = try Udev()
        source = (udev, try UdevEvents(udev))
    }

    /// The ports that are there; what led to them is not reported any more.
    mutating func takePresent() throws(SerialError) -> [SerialPortInfo] {
        guard !isClosed else { throw SerialError(.closed, activity: "watching", path: "serial ports") }
        try update()
        pending = []
        return ledger.present
    }

    /// The next thing to do.
    ///
    /// - Parameter beginWait: Waits until udev's descriptor is readable, or until it is cancelled.
    mutating func step(beginWait: (CInt) -> Task<Void, Never>) throws(SerialError) -> Step {
        if pending.isEmpty { try update() }
        if let event = pending.popFirst() { return .event(event) }
        guard !isClosed, let source else { return .ended }
        let wait = beginWait(source.events.descriptor)
        self.wait = wait
        return .wait(wait)
    }

    mutating func endWait() {
        wait = nil
        if isClosed { source = nil }
    }

    mutating func close() {
        isClosed = true
        pending = []
        if let wait { wait.cancel() } else { source = nil }
    }

    private mutating func update() throws(SerialError) {
        guard !isClosed, let source else { return }
        repeat {
            if isBehind {
                // What the queue holds is older than what is looked at next.
                source.events.discardAll()
                pending += ledger.replaceAll(try Self.ports(of: source.udev))
                isBehind = false
            }
            while let event = next(of: source.events) { pending.append(contentsOf: event) }
        } while isBehind
    }

    /// What the next of udev's events changes; nil when there is none.
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

    /// The ports that are there and ready, by their place in sysfs.
    private static func ports(of udev: Udev) throws(SerialError) -> [String: SerialPortInfo] {
        var ports: [String: SerialPortInfo] = [:]
        let needsRules = SerialPortDiscovery.isUdevRunning
        try udev.forEachPort { device in
            // One whose rules have not run yet has no links, and nobody but root may use it. Its event is to come.
            guard device.isInitialized || !needsRules, let port = device.port else { return }
            ports[device.systemPath] = port
        }
        return ports
    }
}
