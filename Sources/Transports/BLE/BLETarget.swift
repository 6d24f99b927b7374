public import BlueZ

extension BLEEndpoint.Target {
    /// Those of several devices that the endpoint may mean, in their order.
    ///
    /// A name in other letter case means a device only where none has it exactly as it is written.
    ///
    /// - Parameters:
    ///   - address: The address of a device.
    ///   - name: What it calls itself; nil where it has not said.
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
