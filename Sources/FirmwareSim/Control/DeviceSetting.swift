/// An option of a simulated device that can be changed while the device runs, as a row.
///
/// ```swift
/// DeviceSetting(StormFirmwareOptions.echoOption) { storm, values, _ in storm.options.echoesCommand = values.flag("echo") }
/// ```
public struct DeviceSetting<Device>: Sendable {
    /// The option, the same as at the start: its name, and what it takes.
    public let option: SimulatorOption

    package let set: @Sendable (inout Device, SimulatorSettings, Duration) throws(DeviceVerbError) -> Void

    /// - Parameter set: Gives the option its value at that instant; the value is such as the option takes. Where it throws, it
    ///   has changed nothing.
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
    /// The same option of what holds the device.
    package func of<Whole>(_ part: any WritableKeyPath<Whole, Device> & Sendable) -> DeviceSetting<Whole> {
        DeviceSetting<Whole>(option) { whole, values, now throws(DeviceVerbError) in
            try set(&whole[keyPath: part], values, now)
        }
    }
}

extension DeviceVerb {
    /// The same verb of what holds the device.
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
