import TOMLReading

// DeviceKit has an error of the same name, for the configuration files of pumpctl.
typealias ConfigurationError = TOMLReading.ConfigurationError
