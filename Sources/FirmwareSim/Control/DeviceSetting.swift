/// An option of a simulated device that can change while the device runs, described as data.
///
/// ```swift
/// DeviceSetting(PeerFirmwareOptions.acksOption) { peer, values, _ in peer.options.acknowledges = values.flag("acks") }
/// ```
public struct DeviceSetting<Device>: Sendable {
    /// The option, with the name and the values that it also has at the start.
    public let option: SimulatorOption

    package let set: @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void

    /// Creates a setting.
    ///
    /// - Parameters:
    ///   - option: The option that can be set while the device runs.
    ///   - set: Gives the option a new value at an instant. The value has been checked against `option`. If the closure
    ///     throws, it must have changed nothing.
    public init(
        _ option: SimulatorOption,
        set: @escaping @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void
    ) {
        self.option = option
        self.set = set
    }
}

// MARK: - Devices inside others

extension DeviceSetting {
    /// Returns the same setting for a device that contains a `Device` at `part`.
    package func of<Whole>(_ part: any WritableKeyPath<Whole, Device> & Sendable) -> DeviceSetting<Whole> {
        DeviceSetting<Whole>(option) { whole, values, now throws(DeviceVerbError) in
            try set(&whole[keyPath: part], values, now)
        }
    }
}

extension DeviceVerb {
    /// Returns the same verb for a device that contains a `Device` at `part`.
    package func of<Whole>(_ part: any WritableKeyPath<Whole, Device> & Sendable) -> DeviceVerb<Whole> {
        DeviceVerb<Whole>(name, arguments, help: help) { whole, values, now throws(DeviceVerbError) in
            try perform(&whole[keyPath: part], values, now)
        }
    }
}

extension FaultyDevice {
    public static var settings: [DeviceSetting<FaultyDevice>] {
        Device.settings.map { setting in
            DeviceSetting<FaultyDevice>(setting.option) { device, values, now throws(DeviceVerbError) in
                try device.change(at: now) { device, now throws(DeviceVerbError) in
                    try setting.set(&device, values, now)
                }
            }
        }
    }
}
