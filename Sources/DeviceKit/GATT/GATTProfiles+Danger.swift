public import BlueZ
public import Transports

extension GATTProfiles {
    /// Returns the reason that the device would misread bytes that are written to a characteristic; nil if no danger is
    /// known. The check is the same as for lines of text (``WireRules/danger``): `SPEED:fast` would set a pump's speed
    /// to 0.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to write.
    ///   - characteristic: The characteristic to write to.
    ///   - families: The families that the device may belong to.
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
