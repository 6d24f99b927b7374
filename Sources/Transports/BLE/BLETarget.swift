public import BlueZ

extension BLEEndpoint.Target {
    /// Returns the devices that the endpoint may mean, in the given order.
    ///
    /// If no device has exactly the name, the devices that have it in another letter case match.
    ///
    /// - Parameters:
    ///   - devices: The devices in question.
    ///   - address: Returns the address of a device.
    ///   - name: Returns the advertised name of a device; nil if unknown.
    public func matches<Device>(
        among devices: [Device], address: (Device) -> BluetoothAddress, name: (Device) -> String?
    ) -> [Device] {
        switch self {
        case .any: return devices
        case .address(let wanted): return devices.filter { address($0) == wanted }
        case .name(let wanted):
            let exact = devices.filter { name($0) == wanted }
            guard exact.isEmpty else { return exact }
            let folded = wanted.lowercased()
            return devices.filter { name($0)?.lowercased() == folded }
        }
    }
}
