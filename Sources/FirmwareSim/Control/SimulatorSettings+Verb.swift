extension SimulatorSettings {
    /// What was given to a verb, in the order of its arguments.
    init(_ given: [String], as arguments: [SimulatorOption], of verb: String) throws(DeviceVerbError) {
        let names = arguments.map(\.name)
        guard given.count == names.count else { throw .argumentCount(of: verb, names: names) }
        let values = Dictionary(uniqueKeysWithValues: zip(names, given))
        do throws(SimulatorOptionError) { try self.init(arguments, values, over: .line) } catch {
            throw .argument(error)
        }
    }
}
