public import BlueZ
public import Transports

extension GATTProfiles {
    /// Why bytes that are written to a characteristic would do something else at the device than they say; nil where nothing
    /// is known against it. What a family does not send as text is dangerous here too: `SPEED:fast` sets a pump's speed to 0.
    ///
    /// - Parameter families: What the device may be of.
    public func danger(
        of bytes: [UInt8], to characteristic: GATTCharacteristic, among families: [Family]
    ) -> String? {
        let profile = all.first {
            $0.write == characteristic.uuid && $0.services.contains(characteristic.service)
        }
        guard let profile else { return nil }
        return families.lazy.filter { profile.families.contains($0.name) }.compactMap { $0.wire.danger(bytes) }.first
    }
}
