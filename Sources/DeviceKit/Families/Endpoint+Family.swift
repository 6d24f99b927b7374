public import Transports

extension Endpoint {
    /// Returns the endpoint with the settings of `family`: the family's baud rate if the endpoint has none, and over
    /// BLE the family's profiles if the endpoint names no family. For ``Family/raw``, any BLE profile is allowed.
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
