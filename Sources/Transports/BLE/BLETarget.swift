public import BlueZ

extension BLEEndpoint.Target {
    /// Returns the devices that the endpoint may mean, in the given order.
    ///
    /// A name matches in any letter case, but only if no device has exactly this name.
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
