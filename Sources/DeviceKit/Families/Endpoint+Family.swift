public import Transports

extension Endpoint {
    /// The endpoint with the settings of `family`: the family's baud rate if no rate is given, and over BLE the
    /// family's profiles. For ``Family/raw``, any BLE profile is allowed.
    public func adapted(to family: Family) -> Endpoint {
        if let serial, serial.baudRate == nil {
            var endpoint = self
            endpoint.serial?.baudRate = family.baudRate
            return endpoint
        }
        if scheme == "ble", options["family"] == nil, family != .raw { return adding("family", family.name) }
        return self
    }
}
