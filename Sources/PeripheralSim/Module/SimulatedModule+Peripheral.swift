public import BlueZ
public import FirmwareSim

/// The radio of the module, which also has a line.
extension SimulatedModule: SimulatedPeripheral {
    public var offered: PeripheralDescription { .module(name: name) }

    public mutating func take(_ event: CentralEvent, at instant: Duration) {
        switch event {
        case .connected: connect(at: instant)
        case .disconnected: disconnect(at: instant)
        case .wrote(let bytes, _, _): write(bytes, at: instant)
        case .subscribed, .unsubscribed: break
        }
    }
}
