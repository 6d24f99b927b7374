extension StormStore {
    /// Returns the settings of a sensor that has these options and this store, on a line or over BLE.
    package static func settings<Sensor>(
        _ options: any WritableKeyPath<Sensor, StormFirmwareOptions> & Sendable,
        _ store: any WritableKeyPath<Sensor, StormStore> & Sendable
    ) -> [DeviceSetting<Sensor>] {
        [
            DeviceSetting(StormFirmwareOptions.intervalOption) { sensor, values, now in
                let interval = values.time("interval")
                sensor[keyPath: options].interval = interval
                sensor[keyPath: store].setInterval(interval, at: now)
            },
            DeviceSetting(StormFirmwareOptions.echoOption) { sensor, values, _ in
                sensor[keyPath: options].echoesCommand = values.flag("echo")
            },
        ]
    }
}
