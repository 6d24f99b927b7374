/// The ports that are there, by what was reported of them so far.
///
/// It makes of enumerations and of udev's events, which overlap and repeat themselves, one report of each change.
struct PortLedger {
    /// The ports, by their place in sysfs.
    private var ports: [String: SerialPortInfo] = [:]

    /// The ports, in the order of lists.
    var present: [SerialPortInfo] { ports.values.sorted { $0.precedes($1) } }

    /// A port came, or was spoken of again; what is new about it is kept.
    ///
    /// What lies in sysfs may be gone before a word about it is read, so that a USB port looks like none any more. It is
    /// what it was all the same, and the word that it is gone is on its way.
    mutating func add(_ port: SerialPortInfo, at systemPath: String) -> SerialPortEvent? {
        if let known = ports[systemPath], known.identity != port.identity { return nil }
        return ports.updateValue(port, forKey: systemPath) == nil ? .attached(port) : nil
    }

    /// A port is gone. It is reported as it was last seen.
    mutating func remove(at systemPath: String) -> SerialPortEvent? {
        ports.removeValue(forKey: systemPath).map { .detached($0) }
    }

    /// Compares with all the ports that are there.
    mutating func replaceAll(_ new: [String: SerialPortInfo]) -> [SerialPortEvent] {
        let old = self
        ports = new
        let gone = PortLedger(ports: old.ports.filter { new[$0.key]?.identity != $0.value.identity })
        let come = PortLedger(ports: new.filter { old.ports[$0.key]?.identity != $0.value.identity })
        return gone.present.map { .detached($0) } + come.present.map { .attached($0) }
    }
}
