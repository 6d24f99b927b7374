/// A filter for the devices of a scan.
public struct DeviceFilter: Sendable, Hashable {
    /// The parts of the name pattern between its `*`, in lower case; nil to accept every device, also without a name.
    private let name: [String]?
    /// The weakest accepted signal in dBm; nil to accept every device.
    private let leastRSSI: Int?

    /// Creates a filter. By default, every device passes.
    ///
    /// - Parameters:
    ///   - name: A part of the name. A text with `*` must match the whole name, and `*` matches any text. Case is
    ///     ignored.
    ///   - leastRSSI: The weakest accepted signal in dBm. A device whose signal is unknown does not pass.
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
