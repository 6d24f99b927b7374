/// The devices of a scan that a program wants to see.
public struct DeviceFilter: Sendable, Hashable {
    /// The texts between the `*` of a pattern for the name, in lower case; nil for any name, and for none.
    private let name: [String]?
    /// The weakest signal, in dBm; nil for any.
    private let leastRSSI: Int?

    /// A filter, by default one that every device passes.
    ///
    /// - Parameters:
    ///   - name: A part of the name, or with `*` for any text the whole of it, in upper or lower case.
    ///   - leastRSSI: The weakest signal, in dBm. A device whose signal is not known does not pass then.
    public init(name: String? = nil, leastRSSI: Int? = nil) {
        self.name = name.map { name in
            let parts = name.lowercased().split(separator: "*", omittingEmptySubsequences: false).map(String.init)
            return parts.count > 1 ? parts : [""] + parts + [""]
        }
        self.leastRSSI = leastRSSI
    }

    func passes(_ device: ScannedDevice) -> Bool {
        if let name, device.name.map({ LinePattern.matches($0.lowercased(), name) }) != true { return false }
        guard let leastRSSI else { return true }
        return device.rssi.map { $0 >= leastRSSI } == true
    }
}
