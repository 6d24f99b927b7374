/// The present ports, according to the reports so far.
///
/// Enumerations and udev events overlap and repeat each other; the ledger turns them into one event for each change.
struct PortLedger {
    /// The ports, by path in sysfs.
    private var ports: [String: SerialPortInfo] = [:]

    /// The present ports, sorted by name.
    var present: [SerialPortInfo] { ports.values.sorted { $0.precedes($1) } }

    /// Adds a port, or updates a known port.
    ///
    /// If a port is unplugged before one of its events is read, its sysfs entries are gone, so that a USB port no
    /// longer looks like one. So an update that changes the identity of a known port is ignored; the removal event
    /// follows.
    ///
    /// - Returns: An event if the port is new; otherwise nil.
    mutating func add(_ port: SerialPortInfo, at systemPath: String) -> SerialPortEvent? {
        if let known = ports[systemPath], known.identity != port.identity { return nil }
        return ports.updateValue(port, forKey: systemPath) == nil ? .attached(port) : nil
    }

    /// Removes a port. Returns an event with the port as it was last seen; nil if the port is unknown.
    mutating func remove(at systemPath: String) -> SerialPortEvent? {
        ports.removeValue(forKey: systemPath).map { .detached($0) }
    }

    /// Replaces all ports, and returns the differences as events.
    mutating func replaceAll(_ new: [String: SerialPortInfo]) -> [SerialPortEvent] {
        let old = self
        ports = new
        let gone = PortLedger(ports: old.ports.filter { new[$0.key]?.identity != $0.value.identity })
        let come = PortLedger(ports: new.filter { old.ports[$0.key]?.identity != $0.value.identity })
        return gone.present.map { .detached($0) } + come.present.map { .attached($0) }
    }
}
